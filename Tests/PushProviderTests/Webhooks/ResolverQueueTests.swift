import Dispatch
import Foundation
import PushTesting
import Synchronization
import Testing

@testable import PushProvider

/// Names whose servers do not respond.
@Suite(.timeLimit(.patience)) struct ResolverQueueTests {
    private static func limits(_ slots: Int, perApp: Int, neverFound: Int) -> ResolverQueue.Limits {
        var limits = ResolverQueue.Limits()
        (limits.slots, limits.perApp, limits.neverFound) = (slots, perApp, neverFound)
        return limits
    }

    @Test func anAppHasFewSlotsAndANameOne() {
        var queue = ResolverQueue(limits: Self.limits(4, perApp: 2, neverFound: 4))
        #expect(queue.enqueue(1, for: "a", app: 1) == ["a"])
        #expect(queue.enqueue(2, for: "a", app: 1) == [], "it is being looked up")
        #expect(queue.enqueue(3, for: "b", app: 1) == ["b"])
        #expect(queue.enqueue(4, for: "c", app: 1) == [], "the app has its slots")
        #expect(queue.enqueue(5, for: "d", app: 2) == ["d"])
        let ended = queue.finish("a", isFound: true)
        #expect(ended.waiters == [1, 2])
        #expect(ended.started == ["c"])
        #expect(queue.finish("a", isFound: true).waiters.isEmpty)
    }

    @Test func cancelledCallersTakeNoSlot() {
        var queue = ResolverQueue(limits: Self.limits(1, perApp: 1, neverFound: 1))
        #expect(queue.enqueue(1, for: "a", app: 1) == ["a"])
        #expect(queue.enqueue(2, for: "b", app: 1) == [])
        #expect(queue.enqueue(3, for: "c", app: 2) == [])
        queue.cancel(2)
        #expect(queue.finish("a", isFound: false).started == ["c"])
    }

    @Test func namesThatWereNeverFoundLeaveSlots() {
        var queue = ResolverQueue(limits: Self.limits(4, perApp: 4, neverFound: 3))
        #expect(queue.enqueue(0, for: "known", app: 0) == ["known"])
        _ = queue.finish("known", isFound: true)
        for number in 1...6 { _ = queue.enqueue(number, for: "hole\(number)", app: Int64(number)) }
        #expect(queue.enqueue(7, for: "known", app: 7) == ["known"])
        // Not found any more: from now on it is one of the others.
        _ = queue.finish("known", isFound: false)
        #expect(queue.enqueue(8, for: "known", app: 7) == [])
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
            let found = try await resolver.addresses(of: "name\(app)", for: Int64(app), within: .patience)
            #expect(found.count == 1)
        }
        for _ in 0..<40 { holes.signal() }
    }

    @Test func aFailedLookUpHasAReason() async throws {
        let resolver = SystemResolver { _ in throw NameResolutionFailure.unknown(reason: "no such name") }
        await #expect(throws: NameResolutionFailure.unknown(reason: "no such name")) {
            try await resolver.addresses(of: "name", for: 1, within: .patience)
        }
    }
}
