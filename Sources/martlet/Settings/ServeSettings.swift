import ProviderAPI
import PushHTTP
import PushProvider

extension ProviderConfiguration: SettingTarget {
    static var defaults: ProviderConfiguration { ProviderConfiguration(dataDirectory: "martlet-data/provider") }
}

/// The settings of a provider.
enum ServeSettings {
    private static let day = 86_400

    /// The settings for the paths of a provider's data, which the database commands also read.
    enum Storage: SettingSection {
        static let dataDirectory = Setting(
            "serve.dataDirectory",
            flag: "data-directory",
            default: ProviderConfiguration.defaults.dataDirectory
        )
        .help("Directory of the database")
        .detail(
            """
            It holds `provider.sqlite` and `lock`. It must be on a local disk, because SQLite's write-ahead log needs \
            shared memory, which network file systems do not have.
            """
        )
        .detail("One process can use it at a time.")
        private static let masterKeyText = "master.key in the data directory"
        static let masterKey = Setting("serve.masterKey", flag: "master-key", default: masterKeyText)
            .help("File with the 32 bytes that seal the private keys")
            .detail("It seals passphrases and certificates too, and is made at the first start.")

        private static let filesText = "files in the data directory"
        static let filesDirectory = Setting("serve.filesDirectory", flag: "files-directory", default: filesText)
            .help("Folder of the publishers' files, which all nodes have to share")

        static let settings = [dataDirectory, masterKey, filesDirectory]

        /// Creates a configuration that has only the paths of the data directory and the master key.
        static func configuration(_ settings: SettingsReader) -> ProviderConfiguration {
            var configuration = ProviderConfiguration(
                dataDirectory: settings.text(self.dataDirectory),
                masterKeyPath: settings.string(self.masterKey)
            )
            configuration.filesDirectory = settings.string(self.filesDirectory)
            return configuration
        }
    }

    /// The settings for the API's address and the push services.
    enum General: ConfigurationSection {
        /// The value of a setting that selects Apple's push service.
        static let apple = "apple"

        static let sandboxService = Setting("serve.sandboxService", flag: "sandbox-service", default: "Apple's")
            .help("Push service for the sandbox: HOST:PORT, or 'apple'")
            .detail("The log begins with the push services of both environments.")
            .detail("It warns if pushes go to Apple without a setting that says so.")
        static let productionService = Setting(
            "serve.productionService",
            flag: "production-service",
            default: "Apple's"
        )
        .help("Push service for production: HOST:PORT, or 'apple'")
        static let serviceAuthority = Setting("serve.serviceAuthority", flag: "service-authority")
            .help("PEM file of an additional authority for the push services named here")
            .detail(
                "It is trusted for `serve.sandboxService`, `serve.productionService` and `serve.legacy`, never for Apple's own."
            )
        static let fallbackPort = Setting("serve.fallbackPort", flag: "fallback-port", kind: .integer(1...65_535))
            .help("Port to try when a push service cannot be reached on its own port; Apple's second is 2197")
            .detail("The first port is tried again after 1 min, then less often, and used once it works.")
        static let proxy = Setting("serve.proxy", flag: "proxy", kind: .secret)
            .help("HTTP proxy for all pushes, as http://[USER:PASSWORD@]HOST:PORT")
            .detail("It must allow CONNECT to the push services; TLS runs through it to them.")
            .detail("Webhooks do not use it. MARTLET_SERVE_PROXY hides the password from process lists,")
            .detail("see [Proxies](operations.md#proxies).")
        static let proxyPasswordFile = Setting("serve.proxyPasswordFile", flag: "proxy-password-file")
            .help("File with the password of the proxy's user, whose name is in the URL")

        private static let gatewayEvents = Setting("serve.gatewayEvents", flag: "gateway-events")
            .help("URL of the admin API of the Martlet gateway that receives the pushes, for its events")
            .detail("Timelines then show its events, and its deliveries come in as receipts.")
            .detail("A gateway that does not respond delays nothing by more than 2 s.")

        /// Creates the client that reads the gateway's events. Returns `nil` if the setting is absent.
        static func gateway(_ settings: SettingsReader) -> GatewayEventClient? {
            guard let url = settings.string(self.gatewayEvents) else { return nil }
            let gateway = GatewayEventClient(url: url)
            if gateway == nil {
                let hint = "is no URL of an admin API such as http://127.0.0.1:2198"
                settings.reject(self.gatewayEvents, "'\(url.printable)' \(hint)")
            }
            return gateway
        }

        static let chatAuthority = Setting("serve.chatAuthority", flag: "chat-authority")
            .help("PEM file of additional authorities for the chat servers at which users' sessions sign in")
            .detail("Servers of a private network also need `serve.webhooks.allowPrivate`.")

        /// Returns the additional CA certificates for chat servers, in PEM, or `nil` if the setting is absent.
        /// - Throws: ``SettingsError`` for a file without certificates.
        static func chatAuthorities(_ settings: SettingsReader) throws -> String? {
            try settings.string(self.chatAuthority).map { try InputFile.authorities($0, for: self.chatAuthority.key) }
        }

        private static let certificate = Setting("serve.tls.certificate", flag: "tls-certificate")
            .help("PEM file with the certificate of the API, followed by those of its issuers")
            .detail("With it the API speaks HTTPS: HTTP/2 and HTTP/1.1, with TLS 1.2 or later.")
            .detail(
                """
                A renewed file is used for new connections within seconds; one that cannot be used is logged, and the \
                old certificate stays in use.
                """
            )
        private static let key = Setting("serve.tls.key", flag: "tls-key")
            .help("PEM file with the private key of that certificate, without a passphrase")

        /// Returns the files of the API's certificate and its key, or `nil` for an API without TLS.
        /// - Throws: ``SettingsError`` if only one of the two files is specified.
        static func tls(_ settings: SettingsReader) throws -> TLSFiles? {
            switch (settings.string(self.certificate), settings.string(self.key)) {
            case (nil, nil): nil
            case (let certificate?, let key?): TLSFiles(certificate: certificate, key: key)
            case (_?, nil):
                throw SettingsError("serve.tls.key: name the file with the key of the certificate", status: .usage)
            case (nil, _?):
                let message = "serve.tls.certificate: name the file with the certificate of the key"
                throw SettingsError(message, status: .usage)
            }
        }

        static let rows: [SettingRow<ProviderConfiguration>] = [
            .text("serve.host", flag: "host", \.host)
                .help("Address that the API listens on")
                .detail(
                    "For clients on other hosts set `serve.tls.certificate`, or put a proxy with TLS in front of it."
                ),
            .integer("serve.port", flag: "port", 0...65_535, \.port)
                .help("Port of the API; 0 takes a free one"),
            .text("serve.publicAddress", flag: "public-address", \.publicOrigin)
                .help("Address by which others reach the API, such as https://push.example.org")
                .detail("The addresses of push resources begin with it. Default: the name that each request has."),
            SettingRow(certificate), SettingRow(key),
            SettingRow(sandboxService), SettingRow(productionService), SettingRow(serviceAuthority),
            SettingRow(fallbackPort), SettingRow(proxy), SettingRow(proxyPasswordFile), SettingRow(gatewayEvents),
            SettingRow(chatAuthority),
            .toggle("serve.apiOnly", flag: "api-only", \.isAPIOnly)
                .help("Serve only the REST API, without the dashboard")
                .detail("The dashboard is at `/dashboard` of the API's address, see [Dashboard](dashboard.md)."),
            .text("serve.adminKeyFile", flag: "admin-key-file", \.adminKeyFile)
                .help("New file for the first admin API key, which is then not printed")
                .detail("Only its owner can read it. Both the file and the output are written once the port is bound.")
                .detail(
                    """
                    A file with such a key from an earlier start is replaced; any other file ends the start with an \
                    error.
                    """
                ),
        ]
    }

    /// The settings for concurrent work, the retention of records, and the permitted addresses of webhooks.
    enum Limits: ConfigurationSection {
        static let rows: [SettingRow<ProviderConfiguration>] = [
            .integer("serve.dispatch.page", flag: "page", 1...4096, \.dispatch.page)
                .help("Recipients per transaction")
                .detail("A page is rendered, sent and committed as one."),
            .integer("serve.dispatch.walkers", flag: "walkers", 1...64, \.dispatch.walkers)
                .help("Shards of campaigns that are sent at a time"),
            .time("serve.retentionDays", flag: "retention-days", 1...3650, unit: day, \.retention.notifications)
                .help("Days for which finished notifications and token events are kept")
                .detail("Deliveries are deleted with their notification."),
            .time("serve.auditRetentionDays", flag: "audit-retention-days", 1...3650, unit: day, \.retention.audit)
                .help("Days for which audit entries are kept"),
            .time("serve.eventRetentionDays", flag: "event-retention-days", 1...365, unit: day, \.retention.events)
                .help("Days for which events for webhooks are kept")
                .detail("A replay reaches back that far."),
            .toggle("serve.confirmClock", flag: "confirm-clock", \.confirmsClock)
                .help("Trust the clock, however far it is ahead of the last start")
                .detail("For one start only, see [Clocks](operations.md#clocks)."),
            .integer("serve.connections", flag: "connections", 1...100_000, \.limits.connections)
                .help("Connections to the API at a time")
                .detail("A further one closes an idle connection of the client that has the most.")
                .detail("Half of them may be without a valid key."),
            .integer("serve.connectionRate", flag: "connection-rate", 0...1_000_000, \.limits.connectionRate)
                .help("New connections per second of an app, and of strangers, 0 for no limit")
                .detail(
                    """
                    Twice as many may come at once; further ones are closed as soon as they are accepted. An app's connections come from \
                    networks that have shown one of its keys within a day, and one such network may have half of them. Those of \
                    strangers come from all other networks, and one of these may have a tenth. A proxy at 127.0.0.1 has no limit. \
                    Raise the rate for a proxy on another machine, and for many devices behind one address.
                    """
                ),
            .time("serve.requestSeconds", flag: "request-seconds", 1...3600, \.limits.request)
                .help("Seconds from the head of a request to its end")
                .detail(
                    """
                    The same time is allowed for each 16 KiB of an import, and for each 64 kB that the client takes of a \
                    response, such as an export. A client that was faster may pause for as long as it has gained, but \
                    at most for ten times this time. After that the connection is closed.
                    """
                ),
            .time("serve.questionSeconds", flag: "question-seconds", 1...300, \.limits.query)
                .help("Seconds that a query over many devices may take")
                .detail("Counts, previews and histories are such queries. The time in the queue does not count.")
                .detail("After that the response is 503 `query_too_expensive`."),
            .integer("serve.keyRate", flag: "key-rate", 0...1_000_000, \.limits.keyRate)
                .help("Requests per second of one API key, 0 for no limit")
                .detail("Twice as many may come at once; beyond that the response is 429."),
            .integer("serve.publicKeyRate", flag: "public-key-rate", 0...1_000_000, \.limits.publicKeyRate)
                .help("Requests per second with public keys from one address, 0 for no limit")
                .detail("Twice as many may come at once. Behind a proxy all clients have its address."),
            .integer("serve.homeserverRate", flag: "homeserver-rate", 0...1_000_000, \.limits.homeserverRate)
                .help("Requests per second of one Matrix homeserver, 0 for no limit")
                .detail("A homeserver is an address: those behind one proxy share the rate."),
            .time("serve.sessionIdleSeconds", flag: "session-idle-seconds", 60...2_592_000, \.sessions.idle)
                .help("Seconds without a request after which a session of the dashboard ends")
                .detail("OWASP ASVS asks for 1800 at level 2, see [security.md](security.md)."),
            .time("serve.sessionSeconds", flag: "session-seconds", 300...7_776_000, \.sessions.longest)
                .help("Seconds after which a session of the dashboard ends, however much it is used")
                .detail("OWASP ASVS asks for 43200 at level 2."),
            .toggle("serve.webhooks.allowPrivate", flag: "allow-private-webhooks", \.webhookAddresses.allowsPrivate)
                .help("Allow private addresses, with any port, for webhooks and publishers' servers")
                .detail("`http` is then allowed too. The holder of an admin key can reach these addresses."),
            .toggle("serve.webhooks.allowHTTP", flag: "allow-http-webhooks", \.webhookAddresses.allowsPlainHTTP)
                .help("Allow http to public addresses for webhooks and publishers' servers"),
        ]
    }

    /// The settings for the percentages of rejected tokens at which the circuit breaker stops deactivating tokens.
    enum Breaker: ConfigurationSection {
        static let rows: [SettingRow<ProviderConfiguration>] = [
            .integer("serve.breaker.minimum", flag: "breaker-minimum", 1...1_000_000, \.breaker.minimum)
                .help("Responses in an app's environment before the breaker can open"),
            .percent("serve.breaker.dead", flag: "breaker-dead", \.breaker.dead)
                .help("Percentage of dead tokens (410) at which the breaker opens"),
            .percent("serve.breaker.bad", flag: "breaker-bad", \.breaker.bad)
                .help("Percentage of bad tokens at which the breaker opens")
                .detail("Bad tokens are those with `BadDeviceToken` or `DeviceTokenNotForTopic`."),
            .integer("serve.breaker.memory", flag: "breaker-memory", 1...1_000_000, \.breaker.memory)
                .help("Number of responses at which all counts are halved, so that old ones fade")
                .detail("At least `serve.breaker.minimum`."),
        ]

        /// Checks the limits of the circuit breaker.
        /// - Throws: ``SettingsError`` for limits at which the breaker could never open.
        static func check(_ limits: CircuitBreaker.Limits) throws {
            guard limits.memory >= limits.minimum else {
                let fault = "\(limits.memory) is less than serve.breaker.minimum, \(limits.minimum)"
                throw SettingsError("serve.breaker.memory: \(fault): the breaker could never open", status: .usage)
            }
        }
    }
}

extension ServeSettings {
    /// The settings for the limits of uploads and downloads.
    enum Publishing: ConfigurationSection {
        /// The upper bound of the setting for the maximum size of an upload: 1 TiB.
        private static let maximumFile = 1 << 40

        static let rows: [SettingRow<ProviderConfiguration>] = [
            .integer("serve.publishing.maximumFile", flag: "maximum-file", 1...maximumFile, \.publishing.maximumFile)
                .help("Bytes of the largest file that can be uploaded"),
            .integer("serve.publishing.quota", flag: "publishing-quota", 0...1 << 50, \.publishing.quota)
                .help("Bytes of all files of an app, 0 for no limit")
                .detail("Incomplete uploads count with their whole size. Beyond it uploads get 409 `quota_exceeded`."),
            .integer("serve.publishing.bandwidth", flag: "bandwidth", 0...1 << 40, \.publishing.bandwidth)
                .help("Bytes per second of all downloads together, 0 for no limit")
                .detail("Open downloads share it evenly. Other traffic of the provider does not count."),
            .integer("serve.publishing.downloads", flag: "downloads", 1...100_000, \.publishing.maximumDownloads)
                .help("Downloads at a time")
                .detail("Further ones get 503 with `retry-after`. It should be less than `serve.connections`."),
            .time(
                "serve.publishing.addressSeconds",
                flag: "address-seconds",
                60...604_800,
                \.publishing.addressLifetime
            )
            .help("Seconds within which a download may begin at its address"),
            .time("serve.publishing.unusedHours", flag: "unused-hours", 1...8760, unit: 3600, \.publishing.keepsUnused)
                .help("Hours for which uploads that are not continued, and files that no issue uses, are kept"),
        ]
    }
}

extension ServeSettings {
    /// The settings for deciding about the entitlement to retail issues.
    enum Entitlement: ConfigurationSection {
        private static let appStoreRoot = Setting("serve.publishing.appStoreRoot", flag: "app-store-root")
            .help("File with Apple's root certificate, DER or PEM, to which purchases must lead")
            .detail("Without it no purchase entitles. The App Store uses Apple Root CA - G3.")
            .detail("A PEM file may hold several ([entitlement.md](entitlement.md)).")

        static let rows: [SettingRow<ProviderConfiguration>] = [
            SettingRow(appStoreRoot),
            .toggle(
                "serve.publishing.allowSandboxPurchases",
                flag: "allow-sandbox-purchases",
                \.entitlement.allowsSandboxPurchases
            )
            .help("Let purchases in the sandbox entitle to every product")
            .detail("Otherwise only to products that begin with `dev_test.`. App Review buys in the sandbox."),
            .time("serve.publishing.entitlementSeconds", flag: "entitlement-seconds", 1...30, \.entitlement.deadline)
                .help("Seconds that a publisher's server has to answer"),
            .time("serve.publishing.grantSeconds", flag: "grant-seconds", 0...86_400, \.entitlement.grantTime)
                .help("Seconds for which a grant of a publisher's server is not asked for again"),
            .time("serve.publishing.refusalSeconds", flag: "refusal-seconds", 0...86_400, \.entitlement.refusalTime)
                .help("Seconds for which a refusal of a publisher's server is not asked for again"),
            .time("serve.publishing.knownHours", flag: "known-hours", 1...720, unit: 3600, \.entitlement.knownTime)
                .help("Hours for which a grant counts while the publisher's server does not answer")
                .detail("For apps whose `whenDown` is `allowKnown`. Grants are kept in memory only."),
        ]

        /// Returns the root certificates that verify signed purchases, or `nil` if the setting is absent.
        /// - Throws: ``SettingsError`` for a file without certificates.
        static func roots(_ settings: SettingsReader) throws -> AppStoreRoots? {
            guard let path = settings.string(self.appStoreRoot) else { return nil }
            let (key, maximum) = (self.appStoreRoot.key, AppStoreRoots.maximumLength)
            do {
                return try AppStoreRoots(try InputFile.data(path, for: key, maximum: maximum))
            } catch is AppStoreRoots.Unreadable {
                throw SettingsError("\(key): \(path) has no certificate in PEM or DER", status: .usage)
            }
        }
    }
}
