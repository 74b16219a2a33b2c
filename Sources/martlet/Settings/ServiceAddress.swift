import Foundation
import PushTypes

/// The address of a push service in an option. It is a name, or HOST:PORT with an IPv6 address in brackets.
struct ServiceAddress {
    /// The name, the host name, or the IP address without brackets.
    let host: String
    /// The port, or `nil` if the option contains none.
    let port: Int?

    /// Parses an address. Returns `nil` for an empty host, a URL, or a port that is not a number from 1 to 65,535.
    init?(_ text: String) {
        guard !text.contains(where: { $0 == "/" || $0 == "@" || $0.isWhitespace }) else { return nil }
        guard let colon = text.lastIndex(of: ":"), !text.hasSuffix("]") else {
            self.host = Self.withoutBrackets(text[...])
            self.port = nil
            return
        }
        guard colon > text.startIndex, let port = Int(text[text.index(after: colon)...]), (1...65_535).contains(port)
        else { return nil }
        self.host = Self.withoutBrackets(text[..<colon])
        self.port = port
    }

    private static func withoutBrackets(_ host: Substring) -> String {
        String(host.hasPrefix("[") && host.hasSuffix("]") ? host.dropFirst().dropLast() : host)
    }
}

extension SettingsReader {
    private static let usualProxyPort = 3128

    /// Creates the proxy that a setting specifies. Returns `nil` if the setting is absent.
    /// - Parameter passwordFile: A setting that may specify a file with the password, or `nil` for none.
    /// - Throws: ``SettingsError``, which never contains the URL, because the URL may contain a password.
    func proxy(_ setting: Setting, passwordFile: Setting? = nil) throws -> ProxyEndpoint? {
        let file = passwordFile.flatMap { setting in self.string(setting).map { (setting.key, $0) } }
        guard let text = self.string(setting), !text.isEmpty else {
            if let (key, _) = file { throw SettingsError("\(key) has no effect without \(setting.key)") }
            return nil
        }
        var proxy = try Self.proxy(text, setting.key)
        if let (key, path) = file {
            guard proxy.user != nil, proxy.password == nil else {
                throw SettingsError("\(key): the URL of \(setting.key) must have a user and no password")
            }
            proxy.password = try InputFile.text(path, for: key).trimmingCharacters(in: .newlines)
        }
        return proxy
    }

    private static func proxy(_ text: String, _ key: String) throws -> ProxyEndpoint {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased(), url.host?.isEmpty == false
        else { throw SettingsError("\(key): \(self.proxyForm)") }
        guard scheme == "http" else {
            throw SettingsError("\(key): the URL must begin with http://; proxies that speak TLS are not supported")
        }
        let port = url.port ?? self.usualProxyPort
        guard ["", "/"].contains(url.path), url.query == nil, url.fragment == nil, (1...65_535).contains(port) else {
            throw SettingsError("\(key): \(self.proxyForm)")
        }
        let host = (url.host ?? "").trimmingCharacters(in: CharacterSet(charactersIn: "[]"))
        return ProxyEndpoint(host: host, port: port, user: url.user, password: url.password)
    }

    private static let proxyForm =
        "use http://[USER:PASSWORD@]HOST:PORT, with @, :, / and % in user and password as %40, %3A, %2F and %25"
}
