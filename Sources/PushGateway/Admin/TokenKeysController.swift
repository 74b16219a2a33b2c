import HTTPTypes
import Hummingbird
import PushHTTP
import PushSupport

/// `/v1/token-keys`: the keys that encrypt device tokens.
struct TokenKeysController: Controller {
    let mint: TokenMinter
    let directory: SharedDataDirectory

    /// The result of a rotation.
    private struct Rotated: Encodable {
        /// The id of the key that encrypts from now on.
        var tokenKeyId: UInt8
    }

    var operations: [AdminOperation] {
        [
            .init(
                .post,
                "/v1/token-keys",
                .unaudited,
                id: "rotateTokenKey",
                "Creates a key that encrypts device tokens from now on.",
                self.rotate
            )
        ]
    }

    /// Creates a key. Tokens of earlier keys stay valid until their device has requested new ones.
    private func rotate(_ request: OperationRequest) async throws -> Response {
        let id: UInt8? = try self.directory.use { directory in
            let count = Int(self.mint.currentKeyID)
            guard count < TokenMinter.maximumKeys else { return nil }
            return self.mint.rotate(to: try TokenKeyFiles.makeNext(after: count, in: directory))
                ? self.mint.currentKeyID : nil
        }
        guard let id else {
            throw RequestError.conflict(
                "too_many_token_keys",
                "there are at most \(TokenMinter.maximumKeys) token keys"
            )
        }
        return try .json(Rotated(tokenKeyId: id), status: .created)
    }
}
