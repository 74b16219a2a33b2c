import NIOCore
import PushStore

/// The batches of receipts that wait to be written, in the order of each app, with the apps in turn.
///
/// No app waits behind all receipts of another. How many may wait is decided by their budget.
struct ReceiptQueue<Ticket> {
    /// A batch with the ticket of its caller.
    struct Element {
        var batch: ReceiptBatch
        var ticket: Ticket
    }

    /// The batches of one app.
    private struct Lane {
        var app: String
        var elements = CircularBuffer<Element>()
    }

    /// The receipts of one transaction, with the batch that exceeds them.
    private let transaction: Int
    /// The apps that have batches, in the order of their turns.
    private var lanes: [Lane] = []

    init(transaction: Int) { self.transaction = transaction }

    var isEmpty: Bool { self.lanes.isEmpty }

    /// Adds a batch of an app.
    mutating func add(_ batch: ReceiptBatch, of app: String, ticket: Ticket) {
        let index = self.lanes.firstIndex { $0.app == app } ?? self.lanes.endIndex
        if index == self.lanes.endIndex { self.lanes.append(Lane(app: app)) }
        self.lanes[index].elements.append(Element(batch: batch, ticket: ticket))
    }

    /// Takes the batches of the next transaction: one of each app in turn, until there are enough receipts.
    mutating func takeNext() -> [Element] {
        var (next, receipts) = ([Element](), 0)
        while receipts < self.transaction, !self.lanes.isEmpty {
            var lane = self.lanes.removeFirst()
            guard let element = lane.elements.popFirst() else { continue }
            receipts += element.batch.entries.count
            next.append(element)
            if !lane.elements.isEmpty { self.lanes.append(lane) }
        }
        return next
    }
}
