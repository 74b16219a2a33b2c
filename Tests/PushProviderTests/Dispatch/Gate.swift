import PushSupport

/// A gate that blocks its callers until it is opened.
final class Gate: Sendable {
    private let passage = OneShotValue<Void>()

    func pass() async { try? await self.passage.value }
    func open() { self.passage.resolve(.success(())) }
}
