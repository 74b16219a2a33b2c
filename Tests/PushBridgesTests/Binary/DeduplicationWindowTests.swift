import Foundation
import PushTesting
import PushTypes
import Testing

@testable import PushBridges

/// Pushes that come again after a broken connection.
@Suite struct DeduplicationWindowTests {
    private static let start = Vectors.issuedAt
    private let connection = UUID()

    private func key(_ number: UInt8, payload: String = "{}", expiration: String? = nil) -> DeduplicationWindow.Key {
        DeduplicationWindow.Key(token: [number], payload: Data(payload.utf8), expiration: expiration)
    }

    private func after(_ seconds: Int) -> Timestamp { Self.start.advanced(by: .seconds(seconds)) }

    @Test func whatABrokenConnectionHadStoredIsRecognizedOnce() {
        var window = DeduplicationWindow()
        for key in [self.key(1), self.key(2), self.key(2)] {
            window.stored(key, on: self.connection, now: Self.start)
        }
        let isRepeatBefore = window.takeRepeat(self.key(1), now: Self.start)
        #expect(!isRepeatBefore, "equal pushes on a connection are meant")
        window.connectionEnded(self.connection, isBroken: true, now: self.after(1))
        let found = [1, 1, 2, 2, 2, 3].map { window.takeRepeat(self.key($0), now: self.after(2)) }
        #expect(found == [true, false, true, true, false, false])
        #expect(window.isEmpty)
    }

    @Test func anOrderlyEndLeavesNothing() {
        var window = DeduplicationWindow()
        window.stored(self.key(1), on: self.connection, now: Self.start)
        window.connectionEnded(self.connection, isBroken: false, now: self.after(1))
        #expect(window.isEmpty)
    }

    @Test func onlyAMinuteCounts() {
        var window = DeduplicationWindow()
        window.stored(self.key(1), on: self.connection, now: Self.start)
        window.stored(self.key(2), on: self.connection, now: self.after(50))
        window.connectionEnded(self.connection, isBroken: true, now: self.after(70))
        let old = window.takeRepeat(self.key(1), now: self.after(71))
        #expect(!old, "it was stored more than a minute before the break")
        let late = window.takeRepeat(self.key(2), now: self.after(130))
        #expect(!late, "the break was a minute ago")
        #expect(window.isEmpty)
    }

    @Test func laterBreaksDoNotProlongIt() {
        var window = DeduplicationWindow()
        window.stored(self.key(1), on: self.connection, now: Self.start)
        window.connectionEnded(self.connection, isBroken: true, now: self.after(1))
        for second in [30, 59, 90] {
            let other = UUID()
            window.stored(self.key(2), on: other, now: self.after(second))
            window.connectionEnded(other, isBroken: true, now: self.after(second))
        }
        let old = window.takeRepeat(self.key(1), now: self.after(91))
        #expect(!old, "it is another push by now")
        let found = (0..<4).count { _ in window.takeRepeat(self.key(2), now: self.after(92)) }
        #expect(found == 3)
        #expect(window.isEmpty)
    }

    @Test func tokenPayloadAndExpirationMakeAPush() {
        let all = [
            self.key(1), self.key(2), self.key(1, payload: "{ }"), self.key(1, expiration: "0"),
            self.key(1, expiration: "1"),
        ]
        #expect(Set(all).count == all.count)
        // No text of one part can look like the beginning of the next.
        let first = DeduplicationWindow.Key(token: [1, 0x31], payload: Data("x".utf8), expiration: "1")
        let second = DeduplicationWindow.Key(token: [1], payload: Data("x".utf8), expiration: "11")
        #expect(first != second)
    }

    @Test func memoryIsBounded() {
        var window = DeduplicationWindow(limits: .init(time: .seconds(60), count: 10))
        for number in 0..<100 { window.stored(self.key(UInt8(number)), on: self.connection, now: Self.start) }
        window.connectionEnded(self.connection, isBroken: true, now: Self.start)
        let found = (0..<100).filter { window.takeRepeat(self.key(UInt8($0)), now: Self.start) }
        #expect(found == Array(90..<100), "the newest are remembered")
        window.expect((0..<100).map { self.key(UInt8($0)) }, now: Self.start)
        let expected = (0..<100).count { window.takeRepeat(self.key(UInt8($0)), now: Self.start) }
        #expect(expected == 10)
    }
}
