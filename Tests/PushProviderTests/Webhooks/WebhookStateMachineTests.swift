import PushStore
import PushSupport
import PushTesting
import PushTypes
import Testing

@testable import PushProvider

@Suite struct WebhookStateMachineTests {
    let start = Timestamp(seconds: 1_700_000_000)

    @Test func aFailureWaitsLongerEachTimeUpTo15Minutes() throws {
        var generator = SeededGenerator(seed: 1)
        var machine = WebhookStateMachine(.fixture(port: 1))
        var now = self.start
        var longest: Duration = .zero
        for failure in 1...60 {
            #expect(machine.isDue(at: now))
            machine.failed(.noResponse(reason: "none"), at: ClockReading(now), using: &generator)
            let next = try #require(machine.record.nextTryAt)
            let limit = WebhookPolicy().backoff.limit(afterFailures: failure)
            #expect(next.since(now) <= min(limit, .seconds(900)))
            if next > now {
                #expect(!machine.isDue(at: now))
            }
            longest = max(longest, next.since(now))
            now = next
        }
        #expect(longest > .seconds(600))
        #expect(machine.record.failures == 60)
        #expect(machine.record.lastError == "no response: none")
        #expect(machine.record.cursor == 0)
    }

    @Test func aSuccessForgetsFailures() {
        var generator = SeededGenerator(seed: 2)
        var machine = WebhookStateMachine(.fixture(port: 1))
        machine.failed(.status(500, retryAfter: nil), at: ClockReading(self.start), using: &generator)
        machine.accepted(through: 12, at: self.start)
        #expect(machine.record.cursor == 12)
        #expect(machine.record.failures == 0)
        #expect(machine.record.nextTryAt == nil)
        #expect(machine.record.lastError == nil)
        #expect(machine.record.lastSuccessAt == self.start)
        #expect(machine.isDue(at: self.start))
    }

    @Test func retryAfterCountsUpToAnHour() {
        var generator = SeededGenerator(seed: 3)
        var machine = WebhookStateMachine(.fixture(port: 1))
        machine.failed(.status(503, retryAfter: .seconds(120)), at: ClockReading(self.start), using: &generator)
        #expect(machine.record.nextTryAt == self.start.advanced(by: .seconds(120)))
        machine.failed(
            .status(429, retryAfter: .seconds(4_000_000_000)),
            at: ClockReading(self.start),
            using: &generator
        )
        #expect(machine.record.nextTryAt == self.start.advanced(by: .seconds(3600)))
    }

    @Test func aReceiverThatIsGoneEndsTheWebhook() {
        var generator = SeededGenerator(seed: 4)
        var machine = WebhookStateMachine(.fixture(port: 1))
        machine.failed(.status(410, retryAfter: nil), at: ClockReading(self.start), using: &generator)
        #expect(!machine.record.isActive)
        #expect(!machine.isDue(at: self.start.advanced(by: .seconds(86_400))))
        #expect(machine.record.lastError?.hasPrefix("disabled: ") == true)
        var (change, webhook) = (WebhookChange(), machine.record)
        change.isEnabled = true
        change.apply(to: &webhook)
        #expect(WebhookStateMachine(webhook).isDue(at: self.start))
        #expect(webhook.lastError == nil)
    }

    @Test func daysOfFailureEndTheWebhook() {
        var generator = SeededGenerator(seed: 5)
        var machine = WebhookStateMachine(.fixture(port: 1))
        machine.accepted(through: 1, at: self.start)
        var now = self.start
        while machine.record.isActive, machine.record.failures < 10_000 {
            machine.failed(.status(500, retryAfter: nil), at: ClockReading(now), using: &generator)
            now = machine.record.nextTryAt ?? now
        }
        #expect(!machine.record.isActive)
        #expect(now.since(self.start) >= .seconds(3 * 86_400))
        #expect(now.since(self.start) < .seconds(4 * 86_400))
        #expect(machine.record.lastError?.contains("72 h") == true)
        #expect(machine.record.cursor == 1)
    }

    @Test func aWebhookThatHadNothingToTakeForDaysIsNotEndedByAFewFailures() {
        var generator = SeededGenerator(seed: 6)
        var machine = WebhookStateMachine(.fixture(port: 1))
        let later = self.start.advanced(by: .seconds(30 * 86_400))
        for _ in 0..<100 { machine.failed(.status(500, retryAfter: nil), at: ClockReading(later), using: &generator) }
        #expect(machine.record.isActive)
    }

    @Test func aDamagedRecordDoesNotCrash() {
        var generator = SeededGenerator(seed: 7)
        var record = WebhookRecord.fixture(port: 1)
        record.failures = .max
        record.createdAt = Timestamp(milliseconds: .min)
        record.lastSuccessAt = nil
        var machine = WebhookStateMachine(record)
        machine.failed(.noResponse(reason: ""), at: ClockReading(Timestamp(milliseconds: .max)), using: &generator)
        #expect(!machine.record.isActive)
        record.failures = .min
        machine = WebhookStateMachine(record)
        machine.failed(.noResponse(reason: ""), at: ClockReading(Timestamp(milliseconds: .max)), using: &generator)
        #expect(machine.record.isActive)
    }
}
