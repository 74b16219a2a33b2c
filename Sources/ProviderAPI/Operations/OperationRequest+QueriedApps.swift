import PushHTTP
import PushStore
import PushSupport
import PushTypes

extension OperationRequest {
    /// Returns the app that the query names, or all that the caller may use.
    func queriedApps(_ store: any AppStore) async throws -> [AppRecord] {
        let apps = try await store.apps().filter { self.caller?.mayUse($0.bundleID) ?? true }
        guard let name = self.query["app"] else { return apps }
        guard let app = apps.first(where: { $0.bundleID.name == name }) else {
            throw RequestError.noSuch("app", by: "bundle id", at: "app")
        }
        return [app]
    }
}

extension ParameterDescription {
    /// The query item that names an app.
    static var ofApp: ParameterDescription { .query("app", "Of this app only, by its bundle id.", .bundleID) }
}
