import NIOCore
import PushTesting
import Testing

@testable import PushSender

@Suite struct WorkQueueTests {
    private let soon = NIODeadline.uptimeNanoseconds(1)
    private let later = NIODeadline.uptimeNanoseconds(2)

    @Test func callsTakeTurns() {
        var queue = WorkQueue()
        let (large, single) = (Self.batch(1000), Self.batch(1))
        queue.append(large, deadline: self.later)
        queue.append(single, deadline: self.later)
        var tickets: [PushTicket] = []
        queue.take(32, into: &tickets)
        queue.take(32, into: &tickets)
        #expect(tickets.count == 33)
        #expect(tickets.last?.batch === single)
        #expect(queue.count == 968)
        queue.take(32, into: &tickets)
        #expect(tickets[33...].map(\.index) == Array(32..<64))
    }

    @Test func whatIsPutBackComesFirstAndKeepsItsDeadline() {
        var queue = WorkQueue()
        let (first, second) = (Self.batch(3), Self.batch(3))
        queue.append(first, deadline: self.soon)
        var tickets: [PushTicket] = []
        queue.take(3, into: &tickets)
        queue.append(second, deadline: self.later)
        #expect(queue.prepend(tickets).isEmpty)
        #expect(queue.count == 6)
        #expect(queue.firstDeadline == self.soon)
        var again: [PushTicket] = []
        while again.count < 6 { queue.take(10, into: &again) }
        #expect(again.map(\.index) == [0, 1, 2, 0, 1, 2])
        #expect(again[0].batch === first)
        #expect(queue.isEmpty)
    }

    @Test func whatIsRemovedIsHandedOut() {
        var queue = WorkQueue()
        let (first, second) = (Self.batch(5), Self.batch(2))
        queue.append(first, deadline: self.soon)
        queue.append(second, deadline: self.later)
        #expect(queue.remove { batch, _ in batch === first }.map(\.index) == [0, 1, 2, 3, 4])
        #expect(queue.count == 2)
        #expect(queue.remove { _, deadline in deadline == self.later }.count == 2)
        #expect(queue.isEmpty)
        #expect(queue.firstDeadline == nil)
    }

    /// Taking some pushes of a call back leaves the others in their order.
    @Test func pushesOfOneCallAreTakenBack() {
        var queue = WorkQueue()
        let (first, second) = (Self.batch(6), Self.batch(2))
        queue.append(first, deadline: self.later)
        queue.append(second, deadline: self.later)
        #expect(queue.remove([0, 3, 4], of: first).map(\.index).sorted() == [0, 3, 4])
        #expect(queue.count == 5)
        var tickets: [PushTicket] = []
        while !queue.isEmpty { queue.take(10, into: &tickets) }
        #expect(tickets.filter { $0.batch === first }.map(\.index) == [1, 2, 5])
        #expect(tickets.filter { $0.batch === second }.map(\.index) == [0, 1])
        #expect(queue.remove([1], of: first).isEmpty, "a connection has it")
        #expect(queue.prepend(tickets.filter { $0.index == 1 }).isEmpty)
        #expect(queue.remove([1], of: first).count == 1, "it came back")
        #expect(queue.count == 1)
    }

    /// A recall that comes between the return of a push and the queue finds nothing there. The queue does not take the push.
    @Test func whatIsRecalledBeforeItComesBackIsNotQueued() {
        var queue = WorkQueue()
        let batch = Self.batch(3)
        queue.append(batch, deadline: self.later)
        var tickets: [PushTicket] = []
        queue.take(3, into: &tickets)
        #expect(batch.takeBack { $0 == 1 } == 1)
        #expect(queue.prepend(tickets).map(\.index) == [1])
        var again: [PushTicket] = []
        while !queue.isEmpty { queue.take(10, into: &again) }
        #expect(again.map(\.index) == [0, 2])
    }

    private static func batch(_ count: Int) -> SendBatch {
        SendBatch(makePushes(count), metrics: SenderMetrics(service: "test"))
    }
}
