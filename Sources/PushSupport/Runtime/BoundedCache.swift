import Synchronization

/// A cache that is emptied when a further value would exceed the maximum number of values.
///
/// Its memory is bounded without tracking the order of use. Values that are used often are soon cached again.
package struct BoundedCache<Key: Hashable, Value> {
    /// The maximum number of values. A further one empties the cache.
    package let maximum: Int
    package private(set) var values: [Key: Value] = [:]

    package init(maximum: Int) { self.maximum = maximum }

    /// The cached value of a key, or `nil` if there is none.
    package subscript(key: Key) -> Value? {
        get { self.values[key] }
        set {
            guard let newValue else { return self.values[key] = nil }
            if self.values.count >= self.maximum, self.values[key] == nil { self.values = [:] }
            self.values[key] = newValue
        }
    }

    /// Adds several values. The cache is emptied first if it might not have room for all of them.
    package mutating func merge(_ new: [Key: Value]) {
        if self.values.count + new.count > self.maximum { self.values = [:] }
        self.values.merge(new) { $1 }
    }
}

extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}

/// A cache that is used as a set of keys.
extension BoundedCache where Value == Void {
    package func contains(_ key: Key) -> Bool { self.values[key] != nil }

    package mutating func insert(_ key: Key) { self[key] = () }
}

/// A ``BoundedCache`` that is safe to use from any thread.
package final class SharedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var cache: BoundedCache<Key, Value>
        /// The number of times that the cache was emptied by ``forget()``.
        var generation = 0
    }

    /// The maximum number of values. A further one empties the cache.
    package let maximum: Int
    private let state: Mutex<State>

    package init(maximum: Int) {
        self.maximum = maximum
        self.state = Mutex(State(cache: BoundedCache(maximum: maximum)))
    }

    package var values: [Key: Value] { self.state.withLock { $0.cache.values } }

    /// The cached value of a key, or `nil` if there is none.
    package subscript(key: Key) -> Value? {
        get { self.state.withLock { $0.cache[key] } }
        set { self.state.withLock { $0.cache[key] = newValue } }
    }

    package func merge(_ new: [Key: Value]) { self.state.withLock { $0.cache.merge(new) } }

    /// Returns the cached value of a key. If there is none, creates a value with `make` and caches it.
    package func value(_ key: Key, make: () throws -> Value) rethrows -> Value {
        if let known = self[key] { return known }
        let value = try make()
        self[key] = value
        return value
    }

    /// Returns the cached value of a key. If there is none, reads the value and caches it.
    ///
    /// A value is not cached if ``forget()`` was called while it was being read, because its source may have changed.
    /// - Parameter read: Reads the value, or returns `nil` for a key without a value, which is not cached.
    package func read(_ key: Key, _ read: () async throws -> Value?) async throws -> Value? {
        let (known, generation) = self.state.withLock { ($0.cache[key], $0.generation) }
        if let known { return known }
        guard let value = try await read() else { return nil }
        self.state.withLock { state in
            if state.generation == generation { state.cache[key] = value }
        }
        return value
    }

    /// Removes all values. Values that are being read by ``read(_:_:)`` are not cached.
    package func forget() {
        self.state.withLock { state in
            state.generation += 1
            state.cache = BoundedCache(maximum: self.maximum)
        }
    }
}

extension SharedCache where Value == Void {
    package func contains(_ key: Key) -> Bool { self[key] != nil }

    package func insert(_ key: Key) { self[key] = () }
}
