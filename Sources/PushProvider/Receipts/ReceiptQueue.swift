import NIOCore
import PushStore

/// The batches of receipts that wait to be written, in the order of each app, with the apps in turn.
///
/// No app waits behind all receipts of another, and none can fill the queue alone.
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
        /// The number of receipts that wait.
        var receipts = 0
    }

    private let limits: ReceiptWriter.Limits
    /// The apps that have batches, in the order of their turns.
    private var lanes: [Lane] = []
    /// The number of receipts that wait.
    private(set) var count = 0

    init(limits: ReceiptWriter.Limits) { self.limits = limits }

    var isEmpty: Bool { self.lanes.isEmpty }

    /// Adds a batch of an app.
    /// - Returns: `false` if the queue, or the app's part of it, is full.
    mutating func add(_ batch: ReceiptBatch, of app: String, ticket: Ticket) -> Bool {
        let receipts = batch.entries.count
        let index = self.lanes.firstIndex { $0.app == app } ?? self.lanes.endIndex
        let own = index < self.lanes.endIndex ? self.lanes[index].receipts : 0
        guard self.count + receipts <= self.limits.waiting, own + receipts <= self.limits.waitingOfApp else {
            return false
        }
        if index == self.lanes.endIndex { self.lanes.append(Lane(app: app)) }
        self.lanes[index].elements.append(Element(batch: batch, ticket: ticket))
        self.lanes[index].receipts += receipts
        self.count += receipts
        return true
    }

    /// Takes the batches of the next transaction: one of each app in turn, until there are enough receipts.
    mutating func takeNext() -> [Element] {
        var (next, receipts) = ([Element](), 0)
        while receipts < self.limits.transaction, !self.lanes.isEmpty {
            var lane = self.lanes.removeFirst()
            guard let element = lane.elements.popFirst() else { continue }
            lane.receipts -= element.batch.entries.count
            receipts += element.batch.entries.count
            next.append(element)
            if !lane.elements.isEmpty { self.lanes.append(lane) }
        }
        self.count -= receipts
        return next
    }
}
