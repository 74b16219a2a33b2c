import PushProvider
import PushSupport

/// The setting `shadow` of a bridge: nothing is sent, and the old server answers.
struct ShadowSettings: Hashable, Sendable {
    /// The URL of the old server up to the path of its API, without a slash at its end; `nil` asks nobody.
    let upstream: String?

    /// Reads the setting; `nil` for a bridge that sends.
    ///
    /// - Throws: ``RequestError`` that names the member at fault.
    init?(_ fields: JSONFields) throws(RequestError) {
        guard let shadow = try fields.fields("shadow", known: ["upstream"]) else { return nil }
        guard let url = try BridgeURL.read("upstream", in: shadow) else {
            self.upstream = nil
            return
        }
        self.upstream = url.hasSuffix("/") ? String(url.dropLast()) : url
    }
}

/// A URL in a bridge's settings.
enum BridgeURL {
    /// Returns the URL in its canonical form; `nil` if it is absent.
    ///
    /// Only its form is checked here. Where requests may go is decided anew before each.
    /// - Throws: ``RequestError`` that names the member at fault.
    static func read(_ name: String, in fields: JSONFields) throws(RequestError) -> String? {
        guard let text = try fields.string(name, maximum: WebhookAddress.maximumLength) else { return nil }
        do throws(RequestError) {
            return try WebhookAddress(text, policy: AddressPolicy(allowsPrivate: true)).url
        } catch {
            throw fields.error(name, error.code, error.message)
        }
    }
}
