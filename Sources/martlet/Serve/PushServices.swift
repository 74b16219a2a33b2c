import Foundation
import Logging
import PushSender
import PushSupport
import PushTypes

/// The push services to which a provider sends: those in the settings, or else Apple's. An additional CA is trusted
/// only for the services in the settings. Otherwise, the operator of that CA could impersonate Apple.
struct PushServices {
    private typealias General = ServeSettings.General

    let endpoints: [PushEnvironment: PushServiceEndpoint]
    let legacy: [PushEnvironment: LegacyService]
    /// The environments whose pushes are sent to Apple because no setting specifies their push service.
    let appleByDefault: Set<PushEnvironment>
    /// The proxy of all push services, or `nil` for none.
    let proxy: ProxyEndpoint?
    /// A warning about settings that have no effect, or `nil` if there is none.
    let warning: String?

    /// Reads the push services from the settings.
    /// - Throws: ``SettingsError`` for a malformed address or an unreadable file.
    init(_ settings: SettingsReader) throws {
        self.proxy = try settings.proxy(General.proxy, passwordFile: General.proxyPasswordFile)
        let setting = General.serviceAuthority
        let authority = try settings.string(setting).map { try InputFile.authorities($0, for: setting.key) }
        var (endpoints, appleByDefault) = ([PushEnvironment: PushServiceEndpoint](), Set<PushEnvironment>())
        for environment in PushEnvironment.allCases {
            let service = environment == .sandbox ? General.sandboxService : General.productionService
            var endpoint = PushServiceEndpoint.apple(environment)
            switch settings.string(service) {
            case nil: appleByDefault.insert(environment)
            case General.apple: break
            case let address?:
                guard let parsed = ServiceAddress(address), let port = parsed.port else {
                    throw SettingsError("\(service.key): '\(address)' is not HOST:PORT", status: .usage)
                }
                guard self.proxy == nil || !parsed.host.isIPAddress else {
                    throw SettingsError("\(service.key): through serve.proxy the host must be a name, not an address")
                }
                endpoint = PushServiceEndpoint(host: parsed.host, port: port)
                endpoint.additionalTrustRoots = authority
            }
            endpoint.fallbackPort = settings.integer(General.fallbackPort)
            if endpoint.fallbackPort == endpoint.port {
                settings.reject(General.fallbackPort, "\(endpoint.port) is the first port of \(endpoint.host) already")
            }
            endpoints[environment] = endpoint
        }
        (self.endpoints, self.appleByDefault) = (endpoints, appleByDefault)
        self.legacy = try ServeSettings.Legacy.services(settings, authority: authority)
        let hasEffect =
            authority == nil || !self.legacy.isEmpty
            || endpoints.values.contains { $0.additionalTrustRoots != nil }
        let warning = "serve.serviceAuthority has no effect: it counts for \(General.sandboxService.key)"
        self.warning = hasEffect ? nil : "\(warning) and \(General.productionService.key)"
    }

    /// Logs the push services in one line, as a warning if a service of Apple is used because no setting names one.
    func log(to logger: Logger) {
        let addresses = self.endpoints.map { environment, endpoint in
            let isApple = endpoint.host == PushServiceEndpoint.apple(environment).host
            let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
            return (environment.rawValue, Logger.MetadataValue("\(isApple ? "Apple, " : "")\(host):\(endpoint.port)"))
        }
        let metadata = Logger.Metadata(uniqueKeysWithValues: addresses)
        switch self.appleByDefault.count {
        case 0: logger.info("pushes go to the push services of the settings", metadata: metadata)
        case PushEnvironment.allCases.count:
            logger.warning("pushes go to APPLE: no setting names a push service", metadata: metadata)
        default:
            let names = self.appleByDefault.map(\.rawValue).sorted().joined(separator: ", ")
            let note: Logger.Metadata = ["apple": "\(names)"]
            logger.warning(
                "pushes of one environment go to APPLE: no setting names its push service",
                metadata: metadata.merging(note) { $1 }
            )
        }
        if let proxy { logger.info("pushes go through a proxy", metadata: ["proxy": "\(proxy)"]) }
        if let warning { logger.warning("\(warning)") }
    }
}
