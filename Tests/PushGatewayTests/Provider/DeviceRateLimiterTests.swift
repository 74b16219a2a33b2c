import Foundation
import PushProtocol
import PushTesting
import Testing

@testable import PushGateway

@Suite struct DeviceRateLimiterTests {
    let topic: TopicHash
    let start = Vectors.issuedAt

    init() throws {
        self.topic = TopicHash(try #require(Topic(Vectors.bundleID)))
    }

    @Test func eachDeviceHasItsOwnWindow() {
        let limiter = DeviceRateLimiter(.init(requests: 2, window: .seconds(60)))
        let (one, two) = (UUID(), UUID())
        #expect(limiter.admits(device: one, topic: self.topic, now: self.start))
        #expect(limiter.admits(device: one, topic: self.topic, now: self.start.advanced(by: .seconds(59))))
        #expect(!limiter.admits(device: one, topic: self.topic, now: self.start.advanced(by: .seconds(59))))
        #expect(limiter.admits(device: two, topic: self.topic, now: self.start.advanced(by: .seconds(59))))
        #expect(limiter.admits(device: one, topic: self.topic, now: self.start.advanced(by: .seconds(60))))
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
