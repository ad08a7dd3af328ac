"""The thesaurus: by which other words people ask for the same thing.

Written by hand, of what tools are about in general; `docs/select.md` says what it was tried on.
"""

from collections.abc import Mapping
from typing import Final

from avow.catalog.select.terms import terms

_SAME: Final = """
add create insert make new
approve accept confirm
cancel stop abort terminate end kill halt
change edit modify set update alter
check verify validate
clone copy duplicate replicate
connect link associate
cost price
delete destroy drop erase remove wipe purge
directory folder
disable deactivate
document file
email mail
enable activate
error issue problem
execute launch run start invoke trigger
fetch get read retrieve show
find lookup query search
image photo picture
list show view browse display
move rename relocate
pay payment
people person user
post publish send submit
reject deny decline
repo repository
save store write
send mail email message
"""
"""Words for one thing, a group on each line."""

_NEAR: Final = """
add create insert make new generate build
generate produce compose draft write make create render
cancel stop abort terminate end kill halt
change edit modify set update adjust alter revise
clone copy duplicate replicate
connect link associate attach join
delete destroy drop erase remove clear purge wipe
execute launch run start trigger invoke
fetch get read retrieve show obtain load download access
find lookup query search discover locate seek browse
list show view browse display enumerate
post publish send share submit
send message notify notification alert deliver
send mail email
save write store export persist
check verify validate test inspect confirm
analyze analyse analysis examine evaluate assess assessment
calculate compute calculator calculation math arithmetic
estimate predict forecast prediction project
compare comparison difference diff versus
convert transform translate conversion turn
translate translation translator language
summarize summary overview abstract digest
explain describe detail info information about introduce
recommend recommendation suggest suggestion advice
monitor track watch observe follow
register enroll signup subscribe join
book reserve reservation booking
buy purchase order shop shopping
pay payment checkout charge billing
upload import ingest load
download export save
move rename relocate transfer
organize sort arrange categorize group classify
schedule plan arrange calendar event appointment meeting
approve accept confirm
reject deny decline
enable activate turn
disable deactivate
resize crop scale rotate
draw diagram chart graph plot visualize visualization render
flowchart diagram mermaid
cost price fee rate value worth quote
directory folder path
document file doc
email mail inbox message gmail outlook
error issue problem bug failure exception
image photo picture img png jpg screenshot photograph
video movie film clip youtube
audio sound music song voice speech
music song track playlist album artist spotify
people person user contact member
employee staff worker personnel
customer client account
company business organization firm enterprise corporation
repo repository git github gitlab
commit log history revision change
branch merge pull request
code source program script
website site webpage page web url link
internet web online
domain website whois dns
browser page navigate click playwright webpage
scrape crawl extract fetch webpage
paper article publication research arxiv scholar journal study literature
news headline story article report
trending trend hot popular top rank ranking
latest recent new current newest
today now current date time
time clock timezone date
date calendar day
weather forecast temperature climate rain
map location place geocode address coordinate
address location geocode place
route direction navigation path driving
distance travel route
near nearby around surrounding close
neighborhood area district livability region
restaurant food dining cafe eat place
hotel accommodation lodging airbnb stay
flight airline plane airport
train railway rail station ticket
travel trip journey itinerary tour vacation
car vehicle driving auto ev
bus transit commute subway transport
charging station ev
stock share equity ticker market
price quote stock asset
crypto cryptocurrency bitcoin coin token blockchain ethereum btc
currency exchange money forex usd dollar rmb cny euro
finance financial market economy economic
income salary wage revenue
invest investment investor portfolio stock
gold silver metal asset commodity
balance account statement
tax vat duty
budget cost expense spending
recipe cook cooking meal dish food
diet nutrition meal food
health medical medicine clinical
disease illness disorder condition symptom
drug medication medicine pharmaceutical
doctor physician clinician provider
hospital clinic
gene genetic variant dna genome
protein sequence structure
patient medical record
game gaming player play esport
champion hero character agent
match game tournament
sport football basketball soccer
book novel library author
museum art artwork painting collection exhibit
history historical past
wikipedia encyclopedia wiki article
dictionary definition meaning word
quiz question exam test
course lesson class education learn
student pupil learner
school university college
teacher instructor professor
horoscope zodiac astrology fortune bazi
almanac lunar calendar chinese
poem poetry verse
presentation powerpoint ppt pptx slide deck
slide presentation
spreadsheet excel xlsx sheet workbook table
csv table data dataset
excel sheet cell worksheet
word docx document
pdf document
paragraph text body content
heading title header
markdown md text
html webpage page
json data
table row column
picture image photo
chart graph plot
mindmap map outline
cloud word
pie chart percentage
footnote note
note memo knowledge memory
remember memory recall store
todo task reminder
task todo job ticket
database sql table query
line text content
base64 encode decode
hash checksum
encrypt decrypt cipher
password credential secret
security vulnerability threat
server host machine
container docker pod kubernetes
deploy deployment release
log event trace
metric measure statistic
statistics stats statistic data
transcript subtitle caption speech
comment reply discussion thread
chat conversation message
tweet twitter post
social media
video bilibili youtube
sentiment opinion emotion feeling mood
fear greed index
law legal regulation statute
court case lawsuit
contract agreement
insurance policy claim
property real estate house home apartment housing
rent lease rental
job career employment vacancy position
resume cv profile
hire recruit recruitment
product item goods merchandise
deal discount bargain cheap coupon sale
review rating feedback
shop store shopping retailer
inventory stock warehouse
shipment shipping delivery package parcel
supplier vendor
farm crop agriculture plant
soil land ground
animal pet wildlife
environment environmental ecology climate
energy power electricity
water river lake ocean
pollution emission air quality
earthquake seismic geological
space satellite planet astronomy star
chemical chemistry compound molecule reaction
physics particle
material metal property
temperature heat thermal
math equation formula algebra
number integer digit
random dice
color colour
size dimension length
country nation state
city town
population people demographic
government public policy
election vote
military defense army
traffic road
event concert show festival
ticket admission
birth birthday born
wedding marriage
child kid baby
family parent
think reasoning thinking
site website
"""
"""Words that belong together, where one is said and a tool has another."""


def _read(groups: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, dict[str, None]] = {}
    for line in groups.strip().splitlines():
        group = dict.fromkeys(terms(line))
        for term in group:
            found.setdefault(term, {}).update(group)
    return {term: tuple(one for one in group if one != term) for term, group in found.items()}


SAME: Final[Mapping[str, tuple[str, ...]]] = _read(_SAME)
"""For a term those that mean the same."""
RELATED: Final[Mapping[str, tuple[str, ...]]] = _read(_SAME + _NEAR)
"""For a term those that mean the same, and those that belong to it."""
