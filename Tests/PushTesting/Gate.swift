import PushSupport

/// A gate that blocks its callers until it is opened.
package final class Gate: Sendable {
    private let passage = OneShotValue<Void>()

    package init() {}

    package func pass() async { try? await self.passage.value }
    package func open() { self.passage.resolve(.success(())) }
}
