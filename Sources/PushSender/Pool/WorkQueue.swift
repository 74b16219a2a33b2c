import NIOCore
import PushTypes

/// A push of a batch that has no outcome yet.
struct PushTicket {
    let batch: SendBatch
    let index: Int
    /// The time after which the push no longer waits for a connection, and its outcome is ``Outcome/notSent(_:)``.
    let deadline: NIODeadline
    /// The number of times that the service has refused the push's stream, which limits further attempts.
    var refusals = 0
    /// The time at which the request was sent, or a time in the past if the push was not sent yet.
    var sentAt = NIODeadline.uptimeNanoseconds(0)

    var push: Push { self.batch.pushes[self.index] }
}

/// The queue of pushes that wait for a connection. Calls are served in turn, so that a single push does not wait for a
/// million others.
struct WorkQueue {
    /// The waiting pushes of one call, or one push that a connection has returned.
    private struct Item {
        enum Content {
            case range(Range<Int>)
            case returned(PushTicket)
        }

        var batch: SendBatch
        var pushes: Content
        var deadline: NIODeadline

        var count: Int {
            switch self.pushes {
            case .range(let range): range.count
            case .returned: 1
            }
        }
    }

    private var items = CircularBuffer<Item>()
    private(set) var count = 0

    var isEmpty: Bool { self.count == 0 }

    /// The earliest deadline of a waiting push, or `nil` if none waits.
    var firstDeadline: NIODeadline? { self.items.lazy.map(\.deadline).min() }

    mutating func append(_ batch: SendBatch, deadline: NIODeadline) {
        guard !batch.pushes.isEmpty else { return }
        self.items.append(Item(batch: batch, pushes: .range(0..<batch.pushes.count), deadline: deadline))
        self.count += batch.pushes.count
    }

    /// Inserts pushes that the service did not process at the front of the queue, except those recalled meanwhile.
    ///
    /// A later recall finds the inserted pushes in the queue.
    /// - Returns: The recalled pushes, which were not inserted.
    mutating func prepend(_ returned: [PushTicket]) -> [PushTicket] {
        var recalled: [PushTicket] = []
        for ticket in returned.reversed() {
            if ticket.batch.isRecalled(ticket.index) {
                recalled.append(ticket)
            } else {
                self.items.prepend(Item(batch: ticket.batch, pushes: .returned(ticket), deadline: ticket.deadline))
                self.count += 1
            }
        }
        return recalled
    }

    mutating func take(_ limit: Int, into tickets: inout [PushTicket]) {
        guard limit > 0, var item = self.items.popFirst() else { return }
        switch item.pushes {
        case .returned(let ticket):
            tickets.append(ticket)
            self.count -= 1
        case .range(let range):
            let taken = range.prefix(limit)
            for index in taken {
                tickets.append(PushTicket(batch: item.batch, index: index, deadline: item.deadline))
            }
            self.count -= taken.count
            guard taken.count < range.count else { return }
            item.pushes = .range(taken.endIndex..<range.upperBound)
            self.items.append(item)
        }
    }

    /// Removes and returns those pushes of a batch, at the given positions, that are still in the queue.
    mutating func remove(_ indices: Set<Int>, of batch: SendBatch) -> [PushTicket] {
        var kept = CircularBuffer<Item>()
        var removed: [PushTicket] = []
        for item in self.items {
            guard item.batch === batch else {
                kept.append(item)
                continue
            }
            switch item.pushes {
            case .returned(let ticket):
                if indices.contains(ticket.index) { removed.append(ticket) } else { kept.append(item) }
            case .range(let range):
                removed += range.filter(indices.contains).map {
                    PushTicket(batch: batch, index: $0, deadline: item.deadline)
                }
                var start = range.lowerBound
                for end in range.filter(indices.contains) + [range.upperBound] {
                    if start < end {
                        kept.append(Item(batch: batch, pushes: .range(start..<end), deadline: item.deadline))
                    }
                    start = end + 1
                }
            }
        }
        self.items = kept
        self.count -= removed.count
        return removed
    }

    mutating func remove(where shouldBeRemoved: (SendBatch, NIODeadline) -> Bool) -> [PushTicket] {
        var kept = CircularBuffer<Item>()
        var removed: [PushTicket] = []
        for item in self.items {
            guard shouldBeRemoved(item.batch, item.deadline) else {
                kept.append(item)
                continue
            }
            self.count -= item.count
            switch item.pushes {
            case .returned(let ticket): removed.append(ticket)
            case .range(let range):
                removed += range.map { PushTicket(batch: item.batch, index: $0, deadline: item.deadline) }
            }
        }
        self.items = kept
        return removed
    }
}
