import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import PushHTTP
import PushSupport

/// The secret with which a caller proves that it is a certain installation of the app (docs/decisions/0024).
enum InstallationSecret {
    private static let field = HTTPField.Name("installation-secret")

    /// Checks the header field `installation-secret` of a request.
    /// - Throws: ``RequestError`` with status 403 if the field is missing or is not the secret of the installation.
    static func check(in request: OperationRequest, _ secret: String) throws {
        let sent = Self.field.flatMap { request.http.headers[$0] } ?? ""
        guard Self.isEqual(sent, secret) else {
            let message = "send the installation's secret in the header installation-secret"
            throw RequestError(.forbidden, code: "not_own_installation", message: message, path: "installation-secret")
        }
    }

    /// Returns whether a sent text equals the secret, in a time that does not depend on either.
    static func isEqual(_ text: String, _ secret: String) -> Bool {
        let key = SymmetricKey(size: .bits256)
        let code = HMAC<SHA256>.authenticationCode(for: Data(secret.utf8), using: key)
        return HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Data(text.utf8), using: key)
    }
}
