import PushTesting
import Testing

@testable import PushStore

/// The number of devices of a step of a count.
@Suite struct DeviceCountTests {
    private let goal = Duration.milliseconds(250)

    /// However costly the condition is: a step that takes seconds is followed by shorter ones until they are in time.
    @Test(arguments: [Duration.microseconds(100), .milliseconds(2), .seconds(1)])
    func stepsShrinkUntilTheyAreInTime(ofOneDevice time: Duration) {
        var size = 50_000
        for _ in 0..<30 { size = DeviceCount.size(after: size, time: time * size, goal: self.goal) }
        #expect(time * size <= self.goal * 2 || size == 1)
    }

    @Test func stepsGrowWhileTheyAreShort() {
        #expect(DeviceCount.size(after: 2000, time: .milliseconds(1), goal: self.goal) == 16_000)
        #expect(DeviceCount.size(after: 2000, time: .milliseconds(100), goal: self.goal) == 4000)
        #expect(DeviceCount.size(after: 2000, time: .milliseconds(300), goal: self.goal) == 2000)
        #expect(DeviceCount.size(after: 2000, time: .milliseconds(501), goal: self.goal) == 1000)
        #expect(DeviceCount.size(after: 1_000_000, time: .zero, goal: self.goal) == 1_000_000)
        #expect(DeviceCount.size(after: 1, time: .seconds(9), goal: self.goal) == 1)
    }
}
