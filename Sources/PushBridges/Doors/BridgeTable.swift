import PushStore
import Synchronization

/// The bridges of one kind by their names, in memory. They are read anew once any bridge has changed.
final class BridgeTable: Sendable {
    private struct State {
        var generation: Int
        var bridges: [String: BridgeRecord]
    }

    private let kind: BridgeKind
    private let store: any ProviderStore
    private let state = Mutex<State?>(nil)

    init(_ kind: BridgeKind, store: any ProviderStore) { (self.kind, self.store) = (kind, store) }

    /// The bridges as they are now.
    var bridges: [String: BridgeRecord] {
        get async throws {
            // A change after this is in the next generation, even if it is read here already.
            let generation = self.store.bridgeGeneration
            if let known = self.state.withLock({ $0 }), known.generation == generation { return known.bridges }
            let records = try await self.store.bridges(kind: self.kind)
            let bridges = Dictionary(records.map { ($0.name, $0) }) { first, _ in first }
            self.state.withLock { state in
                guard state.map({ $0.generation < generation }) ?? true else { return }
                state = State(generation: generation, bridges: bridges)
            }
            return bridges
        }
    }

    /// Returns the bridge with a name; `nil` if there is none.
    subscript(name: String) -> BridgeRecord? {
        get async throws { try await self.bridges[name] }
    }
}
