import Foundation
import PushSender
import PushSupport
import PushTypes

/// The push services that the settings name; where they name none, Apple's.
///
/// The additional authority counts for the named ones only: it could else pretend to be Apple.
struct PushServices {
    let endpoints: [PushEnvironment: PushServiceEndpoint]
    /// Warnings about settings that are probably not meant.
    let warning: String?

    /// - Throws: ``SettingsError`` for an address that is none, or an authority file that cannot be read.
    init(_ settings: Settings) throws {
        let authority = try settings.string("serve.serviceAuthority").map { path in
            do {
                return try String(contentsOfFile: path, encoding: .utf8)
            } catch {
                throw SettingsError("serve.serviceAuthority: \(path) cannot be read: \(ErrorDescription.of(error))")
            }
        }
        var endpoints: [PushEnvironment: PushServiceEndpoint] = [:]
        for environment in PushEnvironment.allCases {
            var endpoint = PushServiceEndpoint.apple(environment)
            let key = "serve.\(environment.rawValue)Service"
            if let address = settings.string(key) {
                guard let parsed = ServiceAddress(address), let port = parsed.port else {
                    throw SettingsError("\(key): '\(address)' is no HOST:PORT")
                }
                endpoint = PushServiceEndpoint(host: parsed.host, port: port)
                endpoint.additionalTrustRoots = authority
            }
            endpoints[environment] = endpoint
        }
        self.endpoints = endpoints
        let isOfUse = authority == nil || endpoints.values.contains { $0.additionalTrustRoots != nil }
        self.warning =
            isOfUse
            ? nil
            : "serve.serviceAuthority has no effect: it counts for serve.sandboxService and serve.productionService"
    }
}
