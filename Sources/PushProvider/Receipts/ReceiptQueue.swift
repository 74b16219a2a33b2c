import PushStore
import PushSupport

/// The batches of receipts that wait to be written, in the order of each app, with the apps in turn.
///
/// No app waits behind all receipts of another. How many may wait is decided by their budget.
struct ReceiptQueue<Ticket> {
    /// A batch with the ticket of its caller.
    struct Element {
        var batch: ReceiptBatch
        var ticket: Ticket
    }

    /// The receipts of one transaction, with the batch that exceeds them.
    private let transaction: Int
    private var elements = FairQueue<String, Element>()

    init(transaction: Int) { self.transaction = transaction }

    var isEmpty: Bool { self.elements.isEmpty }

    /// Adds a batch of an app.
    mutating func add(_ batch: ReceiptBatch, of app: String, ticket: Ticket) {
        self.elements.append(Element(batch: batch, ticket: ticket), of: app)
    }

    /// Takes the batches of the next transaction: one of each app in turn, until there are enough receipts.
    mutating func takeNext() -> [Element] {
        var (next, receipts) = ([Element](), 0)
        while receipts < self.transaction, let element = self.elements.popFirst() {
            receipts += element.batch.entries.count
            next.append(element)
        }
        return next
    }
}
