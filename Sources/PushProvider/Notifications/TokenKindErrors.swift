import PushSupport
import PushTypes

extension RequestError {
    /// The error for a named token that is registered with another kind than the push goes to.
    /// - Parameter position: The position of the token in the request.
    static func tokenOfOtherKind(_ kind: TokenKind, wanted: TokenKind, position: Int) -> RequestError {
        RequestError(
            .conflict,
            code: "token_of_other_kind",
            message: """
                the token is registered with the kind \(kind.rawValue), and this push goes to tokens of the kind \
                \(wanted.rawValue): name one of those, or register the token with the kind that it has
                """,
            path: "to.tokens[\(position)]"
        )
    }

    /// The error for an audience that no device can be in, as none has a token of the kind that the push goes to.
    static func noTokenOfKind(_ kind: TokenKind) -> RequestError {
        RequestError(.conflict, code: "no_token_of_kind", message: Self.lack(of: kind), path: "pushType")
    }

    /// Returns the explanation that no device has a token of a kind, with the remedy.
    static func lack(of kind: TokenKind) -> String {
        "no active device of the app has a token of the kind \(kind.rawValue): register one with that kind"
    }
}
