package import PushHTTP
package import PushStore
import PushSupport

extension ParameterDescription {
    /// The secret by which a request with a public key proves that an installation is its own.
    package static let installationSecret = InstallationSecret.header
}

extension OperationRequest {
    /// Returns the installation that the path holds, whose secret the request shows.
    /// - Throws: ``RequestError`` for a request without it.
    package func ownInstallation(of app: AppRecord, _ store: any UserSecretStore) throws -> String {
        let installation = try self.installation()
        let secret = store.installationSecret(installation, of: app.bundleID)
        try InstallationSecret.check(in: self, secret)
        return installation
    }
}
