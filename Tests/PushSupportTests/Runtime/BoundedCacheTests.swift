import PushSupport
import PushTesting
import Testing

/// What a cache keeps, and what empties it.
@Suite(.timeLimit(.patience)) struct BoundedCacheTests {
    @Test func oneMoreThanTheMaximumEmptiesIt() {
        var cache = BoundedCache<Int, String>(maximum: 3)
        for key in 1...3 { cache[key] = "\(key)" }
        #expect(cache.values == [1: "1", 2: "2", 3: "3"])
        cache[4] = "4"
        #expect(cache.values == [4: "4"])
    }

    @Test func anotherValueOfAKnownKeyEmptiesNothing() {
        var cache = BoundedCache<Int, String>(maximum: 2)
        (cache[1], cache[2]) = ("one", "two")
        cache[2] = "another"
        #expect(cache.values == [1: "one", 2: "another"])
        cache[1] = nil
        #expect(cache[1] == nil)
        cache[3] = "three"
        #expect(cache.values == [2: "another", 3: "three"])
    }

    @Test func valuesThatHaveNoRoomTogetherEmptyItFirst() {
        var cache = BoundedCache<Int, Int>(maximum: 4)
        cache.merge([1: 1, 2: 2])
        cache.merge([3: 3, 4: 4])
        #expect(cache.values.count == 4)
        cache.merge([:])
        #expect(cache.values.count == 4)
        cache.merge([5: 5])
        #expect(cache.values == [5: 5])
    }

    @Test func aSetIsBoundedToo() {
        var set = BoundedCache<String, Void>(maximum: 2)
        for key in ["a", "b", "b"] { set.insert(key) }
        #expect(set.contains("a") && set.contains("b"))
        set.insert("c")
        #expect(set.contains("c") && !set.contains("a"))
    }

    @Test func aValueIsMadeOnce() {
        let cache = SharedCache<Int, Int?>(maximum: 2)
        var made = 0
        for _ in 0..<3 {
            let value = cache.value(7) {
                made += 1
                return nil
            }
            #expect(value == nil)
        }
        #expect(made == 1, "an absent value is a value, too")
    }

    @Test func whatIsMissingIsReadAgain() async throws {
        let cache = SharedCache<Int, Int>(maximum: 2)
        #expect(try await cache.read(1) { nil } == nil)
        #expect(try await cache.read(1) { 1 } == 1)
        #expect(try await cache.read(1) { 2 } == 1)
    }

    /// What was read may have changed meanwhile.
    @Test func aValueThatWasReadBeforeAllWereForgottenIsNotKept() async throws {
        let cache = SharedCache<Int, Int>(maximum: 2)
        let old = try await cache.read(1) {
            cache.forget()
            return 1
        }
        #expect(old == 1)
        #expect(cache[1] == nil)
        #expect(try await cache.read(1) { 2 } == 2)
        #expect(cache.values == [1: 2])
    }

    @Test func anErrorIsNotKept() async throws {
        struct Unreadable: Error {}
        let cache = SharedCache<Int, Int>(maximum: 2)
        await #expect(throws: Unreadable.self) { try await cache.read(1) { throw Unreadable() } }
        #expect(try await cache.read(1) { 1 } == 1)
    }
}
