import Foundation
import PushBridges
import PushTypes
import Testing

@Suite struct TimerWheelTests {
    @Test func nothingIsDueTooEarly() {
        var wheel = TimerWheel()
        #expect(wheel.next == nil)
        let (first, second, third) = (UUID(), UUID(), UUID())
        wheel.add(second, at: Timestamp(milliseconds: 10_001))
        wheel.add(first, at: Timestamp(milliseconds: 10_000))
        wheel.add(third, at: Timestamp(milliseconds: 10_900))
        #expect(wheel.next == Timestamp(seconds: 10))
        #expect(wheel.takeDue(at: Timestamp(milliseconds: 9999)).isEmpty)
        #expect(wheel.takeDue(at: Timestamp(milliseconds: 10_999)) == [first])
        #expect(wheel.next == Timestamp(seconds: 11))
        #expect(wheel.takeDue(at: Timestamp(seconds: 100)) == [second, third])
        #expect(wheel.next == nil)
    }

    @Test func theEndsOfTimeDoNoHarm() {
        var wheel = TimerWheel()
        let (early, late) = (UUID(), UUID())
        wheel.add(early, at: Timestamp(milliseconds: .min))
        wheel.add(late, at: Timestamp(milliseconds: .max))
        #expect(wheel.takeDue(at: .start) == [early])
    }
}
