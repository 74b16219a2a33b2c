import Foundation
import PushTypes
import Testing

@testable import PushProvider

@Suite struct WebhookQueueTests {
    let ids = (0..<10).map { _ in UUID() }

    @Test func oneRunAtATimeForEachAndAnotherAfterwards() {
        var queue = WebhookQueue(limits: WebhookLimits())
        queue.enqueue(self.ids[0], isFailing: false)
        queue.enqueue(self.ids[0], isFailing: false)
        #expect(self.all(&queue) == [self.ids[0]])
        queue.enqueue(self.ids[0], isFailing: false)
        queue.enqueue(self.ids[1], isFailing: false)
        #expect(self.all(&queue) == [self.ids[1]])
        queue.finish(self.ids[0])
        #expect(self.all(&queue) == [self.ids[0]])
    }

    @Test func failingReceiversTakeOnlyAPartOfTheSlots() {
        var limits = WebhookLimits()
        (limits.inFlight, limits.inFlightFailing) = (4, 2)
        var queue = WebhookQueue(limits: limits)
        for id in self.ids[0..<5] { queue.enqueue(id, isFailing: true) }
        #expect(self.all(&queue) == Array(self.ids[0..<2]))
        for id in self.ids[5..<10] { queue.enqueue(id, isFailing: false) }
        #expect(self.all(&queue) == Array(self.ids[5..<7]))
        queue.finish(self.ids[0])
        #expect(self.all(&queue) == [self.ids[7]])
        queue.finish(self.ids[5])
        queue.finish(self.ids[6])
        #expect(self.all(&queue) == [self.ids[8], self.ids[9]])
        queue.finish(self.ids[7])
        #expect(self.all(&queue) == [self.ids[2]])
    }

    @Test func failingReceiversRecoverWhileAllOthersAreBusy() {
        var limits = WebhookLimits()
        (limits.inFlight, limits.inFlightFailing) = (2, 1)
        var queue = WebhookQueue(limits: limits)
        for id in self.ids[0..<3] { queue.enqueue(id, isFailing: false) }
        queue.enqueue(self.ids[3], isFailing: true)
        #expect(self.all(&queue) == [self.ids[0], self.ids[3]])
        queue.finish(self.ids[0])
        #expect(self.all(&queue) == [self.ids[1]])
    }

    @Test(arguments: [
        ("120", Duration.seconds(120)), ("0", .zero), ("Tue, 14 Nov 2023 22:14:20 GMT", .seconds(60)),
        ("Tue, 14 Nov 2000 22:14:20 GMT", .zero), ("4294967295", .seconds(4_294_967_295)),
    ])
    func retryAfterIsSecondsOrADate(text: String, duration: Duration) {
        #expect(RetryAfter.read(text, now: Timestamp(seconds: 1_700_000_000)) == duration)
    }

    @Test(arguments: ["", "-1", "1.5", "soon", "99999999999999999999", String(repeating: "1", count: 10_000), "Tue"])
    func retryAfterThatIsNeitherIsNone(text: String) {
        #expect(RetryAfter.read(text, now: Timestamp(seconds: 1_700_000_000)) == nil)
        #expect(RetryAfter.read(nil, now: Timestamp(seconds: 1_700_000_000)) == nil)
    }

    private func all(_ queue: inout WebhookQueue) -> [UUID] {
        var begun: [UUID] = []
        while let id = queue.next() { begun.append(id) }
        return begun
    }
}
