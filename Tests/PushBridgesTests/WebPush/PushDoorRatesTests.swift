import PushSupport
import Testing

@testable import PushBridges

@Suite struct PushDoorRatesTests {
    @Test func anAppWithManyMessagesLeavesTheLedgerToOthers() throws {
        let rates = PushDoorRates(addressRate: 0)
        for _ in 0..<PushDoorRates.inFlight { try rates.begin(1) }
        let error = #expect(throws: RetryLaterError.self) { try rates.begin(1) }
        #expect(error?.error.kind == .unavailable, "a 4xx could end the subscription")
        try rates.begin(2)
        rates.end(1)
        try rates.begin(1)
        #expect(throws: RetryLaterError.self) { try rates.begin(1) }
    }
}
