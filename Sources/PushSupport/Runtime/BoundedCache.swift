import Synchronization

/// Values that can be had again, of which one more than a maximum empties the cache.
///
/// So it takes no more memory than that, needs no order of use, and soon has again what is used often.
package struct BoundedCache<Key: Hashable, Value> {
    /// The maximum number of values.
    package let maximum: Int
    /// The values by their keys.
    package private(set) var values: [Key: Value] = [:]

    package init(maximum: Int) { self.maximum = maximum }

    /// The value of a key; `nil` if there is none.
    package subscript(key: Key) -> Value? {
        get { self.values[key] }
        set {
            guard let newValue else { return self.values[key] = nil }
            if self.values.count >= self.maximum, self.values[key] == nil { self.values = [:] }
            self.values[key] = newValue
        }
    }

    /// Adds values together. They empty a cache that may not have room for all of them.
    package mutating func merge(_ new: [Key: Value]) {
        if self.values.count + new.count > self.maximum { self.values = [:] }
        self.values.merge(new) { $1 }
    }
}

extension BoundedCache: Sendable where Key: Sendable, Value: Sendable {}

/// A set of keys.
extension BoundedCache where Value == Void {
    package func contains(_ key: Key) -> Bool { self.values[key] != nil }

    package mutating func insert(_ key: Key) { self[key] = () }
}

/// A ``BoundedCache`` for any number of threads.
package final class SharedCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct State {
        var cache: BoundedCache<Key, Value>
        /// The number of times that all values were forgotten.
        var generation = 0
    }

    /// The maximum number of values.
    package let maximum: Int
    private let state: Mutex<State>

    package init(maximum: Int) {
        self.maximum = maximum
        self.state = Mutex(State(cache: BoundedCache(maximum: maximum)))
    }

    /// The values by their keys.
    package var values: [Key: Value] { self.state.withLock { $0.cache.values } }

    /// The value of a key; `nil` if there is none.
    package subscript(key: Key) -> Value? {
        get { self.state.withLock { $0.cache[key] } }
        set { self.state.withLock { $0.cache[key] = newValue } }
    }

    /// Adds values together, see ``BoundedCache/merge(_:)``.
    package func merge(_ new: [Key: Value]) { self.state.withLock { $0.cache.merge(new) } }

    /// Returns the value of a key, which is made if there is none.
    package func value(_ key: Key, make: () throws -> Value) rethrows -> Value {
        if let known = self[key] { return known }
        let value = try make()
        self[key] = value
        return value
    }

    /// Returns the value of a key, which is read if there is none.
    ///
    /// A value that was being read when all were forgotten is not kept, because what it was read from may have changed.
    /// - Parameter read: Returns `nil` for a key without a value, which is not kept.
    package func read(_ key: Key, _ read: () async throws -> Value?) async throws -> Value? {
        let (known, generation) = self.state.withLock { ($0.cache[key], $0.generation) }
        if let known { return known }
        guard let value = try await read() else { return nil }
        self.state.withLock { state in
            if state.generation == generation { state.cache[key] = value }
        }
        return value
    }

    /// Forgets all values.
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
