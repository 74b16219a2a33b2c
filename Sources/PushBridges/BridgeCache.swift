import PushStore
import PushSupport
import PushTypes
import Synchronization

/// The values made of the bridges of one kind, in memory, so that a request reads none of them from disk. They are made anew once
/// any bridge has changed.
final class BridgeCache<Value: Sendable>: Sendable {
    private struct State {
        var generation: Int
        var madeAt: Timestamp
        var value: Value
    }

    private let store: any ProviderStore
    /// The age at which it is made anew in any case, and the clock that tells it; `nil` for none.
    private let aging: (longest: Duration, time: any TimeSource)?
    private let make: @Sendable (any ProviderStore) async throws -> Value
    private let state = Mutex<State?>(nil)

    /// - Parameters:
    ///   - aging: The age at which it is made anew in any case, for what depends on more than bridges; `nil` for none.
    ///   - make: Reads what it is made of.
    init(
        store: any ProviderStore,
        aging: (longest: Duration, time: any TimeSource)? = nil,
        make: @escaping @Sendable (any ProviderStore) async throws -> Value
    ) {
        (self.store, self.aging, self.make) = (store, aging, make)
    }

    /// The value for the bridges as they are now.
    /// - Throws: An error of the store, if bridges have changed and cannot be read.
    var value: Value {
        get async throws {
            guard let known = self.state.withLock({ $0 }), known.generation == self.store.bridgeGeneration else {
                return try await self.read()
            }
            guard let (longest, time) = self.aging, time.steady.since(known.madeAt) >= longest else {
                return known.value
            }
            return (try? await self.read()) ?? known.value
        }
    }

    /// Makes it anew.
    func read() async throws -> Value {
        // A change after this is in the next generation, even if it is read here already.
        let generation = self.store.bridgeGeneration
        let now = self.aging?.time.steady ?? Timestamp(milliseconds: 0)
        let value = try await self.make(self.store)
        self.state.withLock { state in
            guard state.map({ $0.generation <= generation }) ?? true else { return }
            state = State(generation: generation, madeAt: now, value: value)
        }
        return value
    }
}

extension BridgeCache<[String: BridgeRecord]> {
    /// The bridges of a kind by their names.
    convenience init(_ kind: BridgeKind, store: any ProviderStore) {
        self.init(store: store) { store in
            Dictionary(try await store.bridges(kind: kind).map { ($0.name, $0) }) { first, _ in first }
        }
    }

    /// Returns the bridge with a name; `nil` if there is none.
    subscript(name: String) -> BridgeRecord? {
        get async throws { try await self.value[name] }
    }
}

/// The bridges of one kind by their names.
typealias BridgeTable = BridgeCache<[String: BridgeRecord]>
