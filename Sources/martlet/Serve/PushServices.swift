import Foundation
import PushSender
import PushSupport
import PushTypes

/// The push services of a provider: those that the settings name, else Apple's.
///
/// The additional authority counts for the named services only. Otherwise its holder could pretend to be Apple.
struct PushServices {
    private typealias General = ServeSettings.General

    /// The push service of each environment.
    let endpoints: [PushEnvironment: PushServiceEndpoint]
    /// A warning about settings that have no effect; `nil` if all have one.
    let warning: String?

    /// - Throws: ``SettingsError`` for a malformed address, or an authority file that cannot be read.
    init(_ settings: SettingsReader) throws {
        let setting = General.serviceAuthority
        let authority = try settings.string(setting).map { try InputFile.text($0, for: setting.key) }
        var endpoints: [PushEnvironment: PushServiceEndpoint] = [:]
        for environment in PushEnvironment.allCases {
            let service = environment == .sandbox ? General.sandboxService : General.productionService
            var endpoint = PushServiceEndpoint.apple(environment)
            if let address = settings.string(service) {
                guard let parsed = ServiceAddress(address), let port = parsed.port else {
                    throw SettingsError("\(service.key): '\(address)' is not HOST:PORT")
                }
                endpoint = PushServiceEndpoint(host: parsed.host, port: port)
                endpoint.additionalTrustRoots = authority
            }
            endpoints[environment] = endpoint
        }
        self.endpoints = endpoints
        let hasEffect = authority == nil || endpoints.values.contains { $0.additionalTrustRoots != nil }
        let warning = "serve.serviceAuthority has no effect: it counts for \(General.sandboxService.key)"
        self.warning = hasEffect ? nil : "\(warning) and \(General.productionService.key)"
    }
}
