import PushProvider
import PushSupport

/// The settings of shadow mode, in which a bridge sends no pushes and its client receives the old server's response.
struct ShadowSettings: Hashable, Sendable {
    /// The base URL of the old server's API, without a trailing slash. If it is `nil`, requests are not forwarded and
    /// the bridge responds itself.
    let upstream: String?

    private enum Members {
        static let upstream = BridgeURL.member("upstream")
            .described("The URL of the old server up to the path of its API. Default: no server is asked.")
    }

    static let member = Member.object("shadow", RequestObject(optional: [Members.upstream])) {
        (fields) throws(RequestError) -> ShadowSettings in
        let url = try fields.value(Members.upstream)
        return ShadowSettings(upstream: url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 })
    }
    .described("Shadow mode: the bridge sends nothing, and the old server responds. Default: the bridge sends.")
}

enum BridgeURL {
    /// Creates a request member whose value is a URL in canonical form.
    ///
    /// Only the form is checked here. The address is checked before each request.
    static func member(_ name: String) -> RequestMember<String> {
        Member.text(name, 1...WebhookAddress.maximumLength).map { (text, fields) throws(RequestError) in
            do throws(RequestError) {
                return try WebhookAddress(text, policy: AddressPolicy(allowsPrivate: true)).url
            } catch {
                throw fields.error(name, error.code, error.message)
            }
        }
    }
}
