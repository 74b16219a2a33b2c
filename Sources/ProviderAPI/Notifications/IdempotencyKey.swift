import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport

/// The header `idempotency-key` of a sending request, by which repetitions of the request are recognized.
enum IdempotencyKey {
    /// The maximum length of a key, in bytes. A longer one is rejected.
    private static let maximumLength = 200

    static let parameter = ParameterDescription.header(
        "idempotency-key",
        "The same request with the same key is accepted once.",
        .string(length: 1...maximumLength, pattern: "^[!-~]+$")
    )

    /// The error of a key that was used for another request.
    static let conflict = RequestError.conflict(
        "idempotency_conflict",
        "this key was used for another request: choose a new one",
        at: "idempotency-key"
    )

    private static let field = HTTPField.Name("idempotency-key")

    /// Returns the idempotency key in the header of a request, or `nil` if there is none.
    /// - Throws: ``RequestError`` for a key that is empty, too long, or contains characters other than visible ASCII.
    static func of(_ request: Request) throws -> String? {
        guard let name = Self.field, let key = request.headers[name] else { return nil }
        guard !key.isEmpty, key.utf8.count <= Self.maximumLength else {
            let message = "an idempotency key has 1 to \(Self.maximumLength) bytes"
            throw RequestError(.invalid, code: "invalid_idempotency_key", message: message, path: "idempotency-key")
        }
        guard key.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            // The provider's own idempotency keys contain a space, so that keys of callers never equal them.
            let message = "an idempotency key has visible characters of ASCII only, and no spaces"
            throw RequestError(.invalid, code: "invalid_idempotency_key", message: message, path: "idempotency-key")
        }
        return key
    }
}
