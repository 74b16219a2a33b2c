import NIOCore

/// One push that is being sent.
struct PushTicket {
    let batch: SendBatch
    let index: Int
    /// When waiting for a connection ends.
    let deadline: NIODeadline
    /// How often the service has reset its stream as refused.
    var refusals = 0

    var push: Push { self.batch.pushes[self.index] }
}

/// Pushes that wait for a connection. Calls take turns, so that one push does not wait for a million others.
struct WorkQueue {
    /// Pushes of one call.
    private struct Item {
        enum Pushes {
            case range(Range<Int>)
            /// Those that a connection gave back.
            case returned(PushTicket)
        }

        var batch: SendBatch
        var pushes: Pushes
        var deadline: NIODeadline

        var count: Int {
            switch self.pushes {
            case .range(let range): range.count
            case .returned: 1
            }
        }
    }

    private var items = CircularBuffer<Item>()
    /// Waiting pushes.
    private(set) var count = 0

    var isEmpty: Bool { self.count == 0 }

    /// When the first of them has waited for too long.
    var firstDeadline: NIODeadline? { self.items.lazy.map(\.deadline).min() }

    mutating func append(_ batch: SendBatch, deadline: NIODeadline) {
        guard !batch.pushes.isEmpty else { return }
        self.items.append(Item(batch: batch, pushes: .range(0..<batch.pushes.count), deadline: deadline))
        self.count += batch.pushes.count
    }

    /// Puts pushes that were not processed in front of all others.
    mutating func putBack(_ tickets: [PushTicket]) {
        for ticket in tickets.reversed() {
            self.items.prepend(Item(batch: ticket.batch, pushes: .returned(ticket), deadline: ticket.deadline))
        }
        self.count += tickets.count
    }

    /// Takes at most `limit` pushes of the call whose turn it is.
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

    /// Removes those for which `isGone` holds.
    mutating func remove(where isGone: (SendBatch, NIODeadline) -> Bool) -> [PushTicket] {
        var kept = CircularBuffer<Item>()
        var removed: [PushTicket] = []
        for item in self.items {
            guard isGone(item.batch, item.deadline) else {
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
