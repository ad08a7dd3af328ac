"""The pages that `web_search` finds, invented for this demo."""

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
        " so that the first invoice is no surprise.",
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
        "Font licences in plain words",
        "https://type-corner.example/licences",
        "A font is software, and its licence says where it may be used. Desktop, web and app are"
        " often sold apart. A customer who edits the files needs a licence of their own. Keep the"
        " receipts with the project.",
    ),
)
