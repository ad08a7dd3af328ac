print('two')
