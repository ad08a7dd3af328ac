"""The pages that `web_search` finds, written for this demo; their addresses do not exist."""

from typing import Final, NamedTuple


class Article(NamedTuple):
    """One page of the pretended web."""

    title: str
    url: str
    text: str


ARTICLES: Final = (
    Article(
        "How to write an invoice that gets paid",
        "https://studio-desk.example/invoices/getting-paid",
        "An invoice gets paid sooner when it can be checked at a glance. Put the amount, the date"
        " and the bank details where the eye falls first. Name the person who ordered the work"
        " and the words they used for it. Send it the day the work is done, not in the last week"
        " of the month.",
    ),
    Article(
        "Late payment: three letters and a phone call",
        "https://studio-desk.example/invoices/late-payment",
        "Most late payment is forgetfulness, so the first reminder should be friendly. The second"
        " names the invoice, the sum and a new date. Before the third, pick up the phone: a call"
        " often finds a lost letter. Interest on a late payment is a last resort.",
    ),
    Article(
        "Deposits: asking for a third in advance",
        "https://freelance-ledger.example/deposits",
        "A deposit shows that both sides mean it. A third before the start, a third with the first"
        " draft and a third at the end is common among studios. Write the deposit into the offer,"
        " so that nobody is surprised by the first invoice.",
    ),
    Article(
        "Quotes and estimates are not the same",
        "https://freelance-ledger.example/quotes-and-estimates",
        "An estimate is an informed guess; a quote is a promise. State in a quote what is included,"
        " how many rounds of changes there are, and until when it holds. When the work grows,"
        " write a second quote instead of stretching the first.",
    ),
    Article(
        "Numbering invoices without gaps",
        "https://freelance-ledger.example/numbering-invoices",
        "Invoice numbers should be unique and run without gaps, so that nothing seems missing."
        " A cancelled invoice keeps its number and gets a credit note. A draft needs no number"
        " before it is sent.",
    ),
    Article(
        "Paper weights explained",
        "https://paper-and-press.example/paper-weights",
        "Paper weight is measured in grams per square metre. Office paper has 80, a good leaflet"
        " about 135, a postcard 300. A heavier paper is not always stiffer: volume and coating"
        " matter as well. Ask the printer for a dummy before you order.",
    ),
    Article(
        "Matte or gloss?",
        "https://paper-and-press.example/matte-or-gloss",
        "Gloss makes photographs brilliant and shows every fingerprint. Matte paper is easier to"
        " read under lamps and takes a pen. For menus and counters, matte with a protective varnish"
        " lasts longest.",
    ),
    Article(
        "The A series of paper sizes",
        "https://paper-and-press.example/a-series",
        "Each sheet of the A series is half of the one before it, and all have the same"
        " proportions, one to the square root of two. A0 is one square metre. A4 measures 210 by"
        " 297 millimetres. That is why an A4 page folds into an A5 leaflet without waste.",
    ),
    Article(
        "What bleed is and why printers ask for it",
        "https://paper-and-press.example/bleed",
        "Bleed is the part of a picture that is printed beyond the edge and then cut off. Without"
        " it a white line shows wherever the blade is a hair off. Three millimetres on each side"
        " are usual; posters need more.",
    ),
    Article(
        "Colour for print and for screens",
        "https://colour-notes.example/print-and-screen",
        "Screens mix light, presses mix ink. A bright green on a screen cannot be printed with"
        " four inks and comes out duller. Choose the colour on paper first and match the screen"
        " to it. A spot colour helps where a logo must not vary.",
    ),
    Article(
        "Contrast that everyone can read",
        "https://colour-notes.example/contrast",
        "Text needs a contrast of at least 4.5 to 1 against its background, large text 3 to 1."
        " Do not let colour alone carry a meaning: about one man in twelve sees red and green"
        " differently. Test a poster from ten steps away.",
    ),
    Article(
        "A logo in one colour",
        "https://colour-notes.example/one-colour-logo",
        "A logo must work as a stamp. Draw it in black first; if it needs a gradient to be"
        " recognised, it is an illustration. Keep a version for small sizes with fewer details.",
    ),
    Article(
        "Choosing a typeface for a menu",
        "https://type-corner.example/menus",
        "A menu is read in dim light by people of all ages. Choose a typeface with open forms, set"
        " it at eleven points or more, and line up the prices. One family in two weights will do.",
    ),
    Article(
        "Line length and reading",
        "https://type-corner.example/line-length",
        "A line of 45 to 75 characters reads well. Longer lines make the eye lose its place,"
        " shorter ones make it jump. When a column must be wide, give the lines more air.",
    ),
    Article(
        "Font licences in plain words",
        "https://type-corner.example/licences",
        "A font is software, and its licence says where it may be used. Desktop, web and app are"
        " often sold apart. A customer who edits the files needs a licence of their own. Keep the"
        " receipts with the project.",
    ),
    Article(
        "Signs that are found",
        "https://wayfinder-weekly.example/signs",
        "A sign is read in passing, so it gets three words and an arrow. Hang it where people"
        " hesitate, not where the wall is free. Letters should be one centimetre tall for every"
        " three metres of distance.",
    ),
    Article(
        "Exhibition panels: less text, more looking",
        "https://wayfinder-weekly.example/exhibition-panels",
        "Visitors to a museum read for a few seconds before they look. Begin each panel with the"
        " sentence that matters, keep it below a hundred words, and hang it at eye level for"
        " someone sitting in a wheelchair too.",
    ),
    Article(
        "Window lettering that survives the winter",
        "https://wayfinder-weekly.example/window-lettering",
        "Vinyl letters stick to clean, dry glass above ten degrees. Put them inside where the"
        " street is rough, and mirror the file before you cut. Damp mornings are for planning.",
    ),
    Article(
        "Briefings: ten questions before the first sketch",
        "https://studio-desk.example/briefings",
        "A briefing answers who it is for, what should happen, by when, and for how much. Ask what"
        " was tried before and who decides. Read the answers back to the customer; half of all"
        " trouble is found there.",
    ),
    Article(
        "How many rounds of changes?",
        "https://studio-desk.example/rounds-of-changes",
        "Two rounds of changes are enough when the briefing was good. Collect all wishes in one"
        " list from one person. A third round is work, and belongs on the invoice.",
    ),
    Article(
        "Keeping files after a project ends",
        "https://studio-desk.example/archive",
        "Keep the final files, the fonts used and the agreed colours together. Tax records must be"
        " kept for years, in many countries for six to ten; ask an accountant. Write down when an"
        " archive may be deleted, and by whom.",
    ),
    Article(
        "Customer data: collect less",
        "https://plain-privacy.example/collect-less",
        "Data that you do not have cannot be lost. Keep what an invoice needs, and a reason for"
        " everything else. When a customer asks to be deleted, delete what the law does not oblige"
        " you to keep, and tell them what remains.",
    ),
    Article(
        "Backups: three, two, one",
        "https://plain-privacy.example/backups",
        "Keep three copies of your data, on two kinds of storage, one of them elsewhere. A backup"
        " that was never restored is a hope. Restore a database once a quarter, and before every"
        " migration.",
    ),
    Article(
        "Migrating a database without fear",
        "https://plain-privacy.example/database-migration",
        "Make a backup, run the migration dry, read what it would do, then run it in one"
        " transaction. Either all of it happens or nothing does. Drop the old column only when its"
        " contents are safe in the new place.",
    ),
    Article(
        "A Christmas card that is not about you",
        "https://studio-desk.example/christmas-cards",
        "Begin in September. The best card has a use: a calendar, a recipe, a paper star. Leave"
        " room for two sentences by hand, and send fewer of them to people you know.",
    ),
)
