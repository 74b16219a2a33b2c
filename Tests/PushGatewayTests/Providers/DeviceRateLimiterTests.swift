import Foundation
import PushTesting
import PushTypes
import PushWire
import Testing

@testable import PushGateway

@Suite struct DeviceRateLimiterTests {
    let topic: TopicHash
    let start = Vectors.issuedAt

    init() throws {
        self.topic = TopicHash(try #require(Topic(Vectors.bundleID)))
    }

    @Test func eachDeviceHasItsOwnBucketThatFillsAgain() {
        let limiter = DeviceRateLimiter(.init(requests: 2, window: .seconds(60), burst: 3))
        let (one, two) = (UUID(), UUID())
        func admitted(_ device: UUID, after seconds: Int) -> Bool {
            limiter.admits(device: device, topic: self.topic, now: self.start.advanced(by: .seconds(seconds)))
        }
        #expect((0..<4).map { _ in admitted(one, after: 0) } == [true, true, true, false])
        #expect(admitted(two, after: 0))
        #expect(!admitted(one, after: 29))
        #expect(admitted(one, after: 30), "two come back in a minute")
        #expect(!admitted(one, after: 30))
        #expect(!admitted(one, after: -1000), "a clock that was set back gives nothing")
        #expect(
            (0..<4).map { _ in admitted(one, after: 3600) } == [true, true, true, false],
            "and no more than it holds"
        )
    }

    /// The burst of a typical test suite.
    @Test func strictLetsATestSuitesBurstPass() throws {
        let limiter = DeviceRateLimiter(try #require(ProviderRules.strict.deviceRate))
        let device = UUID()
        let admitted = (0..<1001).count { _ in limiter.admits(device: device, topic: self.topic, now: self.start) }
        #expect(admitted == 1000)
        #expect(limiter.rule.contains("gateway.rules.pushBurstPerDevice"))
    }

    @Test func whatIsCountedIsBounded() {
        let limiter = DeviceRateLimiter(.init(requests: 1, window: .seconds(60)), capacity: 2)
        let devices = (0..<3).map { _ in UUID() }
        for device in devices.prefix(2) { #expect(limiter.admits(device: device, topic: self.topic, now: self.start)) }
        #expect(!limiter.admits(device: devices[0], topic: self.topic, now: self.start))
        #expect(limiter.admits(device: devices[2], topic: self.topic, now: self.start))
        #expect(limiter.admits(device: devices[0], topic: self.topic, now: self.start), "all was forgotten")
    }
}
