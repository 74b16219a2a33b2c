import PushProvider
import PushSupport

extension ComponentSettings {
    /// Checks the server by the rules for webhooks and chat servers, for a caller that is limited to apps.
    ///
    /// A name is resolved when its server is connected to. Of names only those are refused that always mean this host.
    /// - Throws: ``RequestError`` for an address that only the own host or network can reach, and for a port of other services.
    func checkServer(_ policy: AddressPolicy) throws(RequestError) {
        do throws(RequestError) {
            _ = try ChatServerAddress(host: self.host, port: self.port, policy: policy)
        } catch {
            let member = error.path == "port" ? "port" : "host"
            let message = "\(error.message); or let a caller with all apps set it"
            throw RequestError(error.kind, code: error.code, message: message, path: "settings.\(member)")
        }
    }
}
