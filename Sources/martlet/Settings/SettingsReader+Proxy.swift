import Foundation
import PushSupport
import PushTypes

extension SettingsReader {
    /// The port of a proxy whose URL has none.
    private static let usualProxyPort = 3128

    /// Returns the proxy that a setting names; `nil` where none is given.
    ///
    /// - Parameter passwordFile: A setting that may name a file with the password.
    /// - Throws: ``SettingsError``, whose text never has the URL: it may hold a password.
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
