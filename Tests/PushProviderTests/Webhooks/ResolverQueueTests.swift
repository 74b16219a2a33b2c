import Dispatch
import Foundation
import PushTesting
import Synchronization
import Testing

@testable import PushProvider

/// Names whose servers do not answer.
@Suite(.timeLimit(.minutes(5))) struct ResolverQueueTests {
    private static func limits(_ places: Int, perApp: Int, unproven: Int) -> ResolverQueue.Limits {
        var limits = ResolverQueue.Limits()
        (limits.places, limits.perApp, limits.unproven) = (places, perApp, unproven)
        return limits
    }

    @Test func anAppHasFewPlacesAndANameOne() {
        var queue = ResolverQueue(limits: Self.limits(4, perApp: 2, unproven: 4))
        #expect(queue.ask(1, for: "a", app: 1) == ["a"])
        #expect(queue.ask(2, for: "a", app: 1) == [], "it is being looked up")
        #expect(queue.ask(3, for: "b", app: 1) == ["b"])
        #expect(queue.ask(4, for: "c", app: 1) == [], "the app has its places")
        #expect(queue.ask(5, for: "d", app: 2) == ["d"])
        let ended = queue.ended("a", isFound: true)
        #expect(ended.answered == [1, 2])
        #expect(ended.begun == ["c"])
        #expect(queue.ended("a", isFound: true).answered.isEmpty)
    }

    @Test func whoHasGivenUpTakesNoPlaceLater() {
        var queue = ResolverQueue(limits: Self.limits(1, perApp: 1, unproven: 1))
        #expect(queue.ask(1, for: "a", app: 1) == ["a"])
        #expect(queue.ask(2, for: "b", app: 1) == [])
        #expect(queue.ask(3, for: "c", app: 2) == [])
        queue.giveUp(2)
        #expect(queue.ended("a", isFound: false).begun == ["c"])
    }

    @Test func namesThatWereNeverFoundLeavePlaces() {
        var queue = ResolverQueue(limits: Self.limits(4, perApp: 4, unproven: 3))
        #expect(queue.ask(0, for: "known", app: 0) == ["known"])
        _ = queue.ended("known", isFound: true)
        for number in 1...6 { _ = queue.ask(number, for: "hole\(number)", app: Int64(number)) }
        #expect(queue.ask(7, for: "known", app: 7) == ["known"])
        // Not found any more: from now on it is one of the others.
        _ = queue.ended("known", isFound: false)
        #expect(queue.ask(8, for: "known", app: 7) == [])
    }

    @Test func blackHolesOfOneAppLeaveTheOthersTheirNames() async throws {
        let holes = DispatchSemaphore(value: 0)
        let resolver = SystemResolver(limits: .init()) { name in
            if name.hasPrefix("hole") { holes.wait() }
            return [IPAddress("192.0.2.1")].compactMap { $0 }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<40 {
                group.addTask {
                    await #expect(throws: NameResolutionFailure.tooSlow) {
                        try await resolver.addresses(of: "hole\(number)", for: 1, within: .milliseconds(1))
                    }
                }
            }
            try await group.waitForAll()
        }
        for app in 2...9 {
            let found = try await resolver.addresses(of: "name\(app)", for: Int64(app), within: .seconds(60))
            #expect(found.count == 1)
        }
        for _ in 0..<40 { holes.signal() }
    }

    @Test func aLookUpThatFailsSaysWhy() async throws {
        let resolver = SystemResolver { _ in throw NameResolutionFailure.unknown(why: "no such name") }
        await #expect(throws: NameResolutionFailure.unknown(why: "no such name")) {
            try await resolver.addresses(of: "name", for: 1, within: .seconds(60))
        }
    }
}
