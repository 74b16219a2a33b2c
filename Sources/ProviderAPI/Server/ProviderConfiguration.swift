package import PushHTTP
package import PushProvider
package import PushSender
package import PushStore
package import PushSupport
package import PushTypes

/// The configuration of a provider server.
package struct ProviderConfiguration: Sendable {
    /// The directory of the database and, by default, of the master key.
    package var dataDirectory: String
    /// The file of the master key: 32 bytes that encrypt the private keys in the database. The first start creates it.
    /// Default `master.key` in the data directory.
    package var masterKeyPath: String
    /// The file that is created for the first admin key, readable by its owner only. Default none.
    package var adminKeyFile: String?
    /// The address to listen on. Default 127.0.0.1.
    package var host = "127.0.0.1"
    /// The port to listen on; 0 for any free one. Default 8080.
    package var port = 8080
    /// The certificate of the API, which speaks HTTP/2 and HTTP/1.1 with it. Default none: HTTP/1.1 without TLS.
    package var tls: TLSFiles?
    package var dispatch = DispatchLimits()
    /// The limits of the circuit breaker, beyond which no token is deactivated.
    package var breaker = CircuitBreaker.Limits()
    package var schedules = ScheduleRunner.Settings()
    /// The durations for which records are kept.
    package var retention = RetentionSettings()
    /// Indicates whether an operator has confirmed that the wall clock is right, however far it is ahead of the last
    /// start.
    package var confirmsClock = false
    /// The policy for the addresses of webhooks and publishers' servers. By default it allows public addresses.
    package var webhookAddresses = AddressPolicy()
    /// The origin by which others reach the provider, such as `https://push.example.org`. Default `nil`: the host of
    /// each request.
    package var publicOrigin: String?
    /// The settings of entitlement to retail issues.
    package var entitlement = EntitlementSettings()
    /// The client that reads the events of the gateway to which the provider sends. Default none.
    package var gatewayEvents: GatewayEventClient?
    /// The feedback services of the push services that have one. Default none: Apple has ended its own.
    package var feedback: [PushEnvironment: PushServiceEndpoint] = [:]
    package var erasure = ErasureSettings()
    /// The cost parameters of the hashes of passwords.
    package var passwords = StoredPassword.Parameters.standard
    /// The lifetimes of sessions and links.
    package var sessions = SessionSettings()
    package var publishing = PublishingSettings()
    package var webhooks = WebhookLimits()
    package var webPush = WebPushLimits()
    package var receipts = ReceiptWriter.Limits()
    package var limits = Limits()
    /// The maximum number of open files and sockets of the process. Chat sessions may use half of it. Default `nil`: it
    /// is not known.
    package var openFiles: Int?
    /// The limits of budgets that replace their defaults and those that other settings imply. Default none.
    package var budgetLimits: [BudgetedResource: BudgetLimits] = [:]
    /// Indicates whether there is a listener for the API and the pages. Default `true`.
    package var hasListener = true
    /// Indicates whether the listener serves the REST API only, without pages. Default `false`.
    package var isAPIOnly = false
    /// The apps that accept compatibility forms. Default none.
    package var compatibility = CompatibilityConfiguration()

    package init(dataDirectory: String, masterKeyPath: String? = nil) {
        self.dataDirectory = dataDirectory
        self.masterKeyPath = masterKeyPath ?? "\(dataDirectory)/master.key"
    }

    /// Indicates whether only this host can reach the API.
    var isLoopback: Bool {
        if self.host == "localhost" { return true }
        guard let bytes = IPAddress(self.host)?.bytes else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }

    package var databasePath: String { "\(self.dataDirectory)/provider.sqlite" }

    /// The folder of uploaded files.
    package var filesPath: String { "\(self.dataDirectory)/files" }

    /// The file that exists while a backup replaces the database. The provider does not start then. The file holds the
    /// name under which the old database is kept.
    package var replacementMarker: String { "\(self.databasePath).replacing" }

    /// The limits of the API.
    package struct Limits: Hashable, Sendable {
        /// The deadline of a request, and of each piece of a response. Default 30 s.
        package var request: Duration = .seconds(30)
        /// The maximum length of a file to import, in bytes. Default 4 GiB, which is about 20 million devices.
        package var importFile = 4 * 1024 * 1024 * 1024
        /// The maximum time that a query may take, not counting the time for which it waits. Default 10 s.
        package var query: Duration = .seconds(10)
        package var queries = QueryLimits()
        /// The deadline for looking up and connecting to a server whose address a caller has given, and again for its
        /// response. Such servers are receivers of webhooks, browsers' push services, push servers and chat servers.
        /// Default 10 s.
        package var peer: Duration = .seconds(10)
        /// The maximum number of requests per second of one API key. Twice as many may come at once. 0 sets no limit.
        /// Default 1,000.
        package var keyRate = 1000
        /// The maximum number of requests per second with public keys from one address. Twice as many may come at once.
        /// 0 sets no limit. Default 20.
        package var publicKeyRate = 20
        /// The maximum number of requests per second of one Matrix homeserver. Twice as many may come at once. 0 sets
        /// no limit. Default 1,000.
        package var homeserverRate = 1000
        /// The limits of connections without a valid key.
        package var unauthenticated = UnauthenticatedConnectionStateMachine.Limits()
        /// The idle timeout of a connection. Default 60 s.
        package var idle: Duration = .seconds(60)
        /// The maximum number of connections. Further ones wait until one is closed. Connections without a key have a
        /// lower limit of their own. Default 1,000.
        package var connections = 1000
        /// The maximum number of new connections per second. It holds for all networks together that have shown a key
        /// of an app, where each network may use half of it, and for all other networks together, where each may use a
        /// tenth. Twice as many may come at once. 0 sets no limit. Default 500.
        package var connectionRate = 500

        package init() {}

        /// The maximum time for which a request waits for the work that it has begun, such as an erasure. It is less
        /// than ``request``, so that there is a response.
        package var outcome: Duration = .seconds(10)
    }
}

extension ProviderConfiguration {
    /// The limits of the budgets that differ from their defaults.
    package var budgets: [BudgetedResource: BudgetLimits] {
        var changed: [BudgetedResource: BudgetLimits] = [:]
        func set(_ resource: BudgetedResource, _ change: (inout BudgetLimits) -> Void) {
            change(&changed[resource, default: resource.row.limits])
        }
        set(.newConnections) { limits in
            limits.bounds.app = .rate(self.limits.connectionRate)
            // Other clients in a network with a key may have none. So one network leaves half of the rate to the app's
            // other networks.
            limits.bounds.caller = .rate((self.limits.connectionRate + 1) / 2)
        }
        set(.strangerConnections) { limits in
            limits.bounds.whole = .rate(self.limits.connectionRate)
            limits.bounds.caller = .rate((self.limits.connectionRate + 9) / 10)
        }
        set(.connections) { $0.bounds.whole = .held(self.limits.connections) }
        set(.requests) { $0.bounds.caller = .rate(self.limits.keyRate) }
        set(.publicRequests) { $0.bounds.caller = .rate(self.limits.publicKeyRate) }
        set(.forms) { limits in
            limits.bounds.app = .rate(self.limits.keyRate)
            // Forms need no API key, so one address may use a tenth of the rate only.
            limits.bounds.caller = .rate((self.limits.keyRate + 9) / 10)
        }
        set(.bridgeRequests) { $0.bounds.app = .rate(self.limits.keyRate) }
        set(.matrixRequests) { $0.bounds.caller = .rate(self.limits.homeserverRate) }
        set(.addressMessages) { $0.bounds.caller = .rate(self.limits.keyRate) }
        if let openFiles = self.openFiles {
            // The other half is for incoming connections, files, and other outgoing connections.
            set(.chatConnections) { $0.bounds.whole = .held(max(1, openFiles / 2)) }
        }
        set(.downloads) { $0.bounds.whole = .held(self.publishing.maximumDownloads) }
        return changed.merging(self.budgetLimits) { $1 }
    }
}

extension BudgetBound {
    /// Returns a rate limit that allows twice as many at once; `nil`, which sets no limit, for 0.
    fileprivate static func rate(_ perSecond: Int) -> BudgetBound? {
        perSecond > 0 ? .rate(perSecond: Double(perSecond), burst: 2 * Double(perSecond)) : nil
    }
}

/// An error that prevents a provider server from running.
package enum ProviderError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(address: String, why: String)
    case dataDirectoryInUse(String)
    case cannotWriteAdminKey(path: String, why: String)
    /// The replacement of this database by a backup was interrupted.
    case restoreInterrupted(String)
    /// The server ended before it accepted requests.
    case ended

    package var description: String {
        switch self {
        case .cannotListen(let address, let why):
            "the provider cannot listen on \(address) (serve.host and serve.port): \(why)"
        case .dataDirectoryInUse(let path): "another provider is using the data directory \(path)"
        case .cannotWriteAdminKey(let path, let why): "the first admin key cannot be written to \(path): \(why)"
        case .restoreInterrupted(let path):
            """
            a restore of \(path) was interrupted: run martlet restore again, with --replace; the old database is kept \
            beside it
            """
        case .ended: "the provider ended before it was open"
        }
    }
}
