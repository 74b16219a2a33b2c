package import PushHTTP
package import PushProvider
package import PushSender
package import PushStore
package import PushSupport
package import PushTypes

package struct ProviderConfiguration: Sendable {
    /// The directory of the database and, by default, of the master key.
    package var dataDirectory: String
    /// The path of the file with the master key: 32 bytes that encrypt the private keys in the database. The first
    /// start creates it. Default `master.key` in the data directory.
    package var masterKeyPath: String
    /// The address of a database of PostgreSQL, which several nodes may share. The default, `nil`, means the database
    /// of SQLite in the data directory.
    package var database: String?
    /// A Boolean value that indicates whether that database is behind a pooler that gives each transaction another
    /// connection. Default `false`.
    package var hasDatabasePooler = false
    /// The name of this node among those that share a database. Default the name of the host.
    package var nodeName: String?
    /// The folder of uploaded files, which all nodes share. Default `files` in the data directory.
    package var filesDirectory: String?
    /// The path of the file to which the first admin key is written, readable by its owner only. The default, `nil`,
    /// means no file.
    package var adminKeyFile: String?
    /// The address to listen on. Default 127.0.0.1.
    package var host = "127.0.0.1"
    /// The port to listen on. 0 selects any free port. Default 8080.
    package var port = 8080
    /// The certificate of the listener, which then speaks HTTP/2 and HTTP/1.1. The default, `nil`, means HTTP/1.1
    /// without TLS.
    package var tls: TLSFiles?
    package var dispatch = DispatchLimits()
    /// The limits of the circuit breaker for device tokens. If a push service rejects more tokens than they allow, no
    /// token is deactivated automatically until an operator decides.
    package var breaker = CircuitBreaker.Limits()
    package var schedules = ScheduleRunner.Settings()
    /// The durations for which records are kept.
    package var retention = RetentionSettings()
    /// A Boolean value that indicates whether an operator has confirmed that the wall clock is right, however far it is
    /// ahead of the time of the last start. Otherwise, a large difference makes the clock untrusted.
    package var confirmsClock = false
    /// The policy for the addresses of webhooks and publishers' servers. By default, it allows public addresses.
    package var webhookAddresses = AddressPolicy()
    /// The origin under which clients reach the provider, such as `https://push.example.org`. The default, `nil`, means
    /// the host of each request.
    package var publicOrigin: String?
    package var entitlement = EntitlementSettings()
    /// The client that reads events, such as deliveries, from the gateway to which the provider sends. The default,
    /// `nil`, means none.
    package var gatewayEvents: GatewayEventClient?
    /// The endpoints of push services' feedback services. Default none, because Apple has shut down its own.
    package var feedback: [PushEnvironment: PushServiceEndpoint] = [:]
    package var erasure = ErasureSettings()
    /// The cost parameters for hashing passwords.
    package var passwords = StoredPassword.Parameters.standard
    package var sessions = SessionSettings()
    package var publishing = PublishingSettings()
    package var webhooks = WebhookLimits()
    package var webPush = WebPushLimits()
    package var receipts = ReceiptWriter.Limits()
    package var limits = Limits()
    /// The maximum number of open files and sockets of the process. Chat sessions may use half of it. The default,
    /// `nil`, means that the number is not known.
    package var openFiles: Int?
    /// The limits of budgets that replace the defaults and those that result from other settings. Default none.
    package var budgetLimits: [BudgetedResource: BudgetLimits] = [:]
    /// A Boolean value that indicates whether there is a listener for the API and the pages. Default `true`.
    package var hasListener = true
    /// A Boolean value that indicates whether the listener serves only the REST API and no pages. Default `false`.
    package var isAPIOnly = false
    /// The apps that accept the registration and notify forms of older systems. Default none.
    package var compatibility = CompatibilityConfiguration()

    package init(dataDirectory: String, masterKeyPath: String? = nil) {
        self.dataDirectory = dataDirectory
        self.masterKeyPath = masterKeyPath ?? "\(dataDirectory)/master.key"
    }

    /// A Boolean value that indicates whether the listener's address is reachable from this host only.
    var isLoopback: Bool {
        if self.host == "localhost" { return true }
        guard let bytes = IPAddress(self.host)?.bytes else { return false }
        return bytes.count == 4 ? bytes[0] == 127 : bytes == Array(repeating: 0, count: 15) + [1]
    }

    package var databasePath: String { "\(self.dataDirectory)/provider.sqlite" }

    package var filesPath: String { self.filesDirectory ?? "\(self.dataDirectory)/files" }

    /// The path of a file that exists while a backup replaces the database, and prevents the provider from starting.
    /// The file contains the name under which the old database is kept.
    package var replacementMarker: String { "\(self.databasePath).replacing" }

    package struct Limits: Hashable, Sendable {
        /// The deadline of a request, and of each chunk of a response. Default 30 s.
        package var request: Duration = .seconds(30)
        /// The maximum length of a file to import, in bytes. Default 4 GiB, which is about 20 million devices.
        package var importFile = 4 * 1024 * 1024 * 1024
        /// The maximum time that a query may run, not counting the time that it waits. Default 10 s.
        package var query: Duration = .seconds(10)
        package var queries = QueryLimits()
        /// The deadline for resolving the name of a server that a caller has named and connecting to it, and again for
        /// its response. Examples are webhook receivers, browsers' push services, push servers and chat servers.
        /// Default 10 s.
        package var peer: Duration = .seconds(10)
        /// The maximum number of requests per second of an API key for which no other rate is set. Bursts of twice as
        /// many are allowed. 0 sets no limit. Default 1,000.
        package var keyRate = 1000
        /// The maximum number of requests per second with public keys from one network site, such as an IPv4 address.
        /// Bursts of twice as many are allowed. 0 sets no limit. Default 20.
        package var publicKeyRate = 20
        /// The maximum number of requests per second of one Matrix homeserver. Bursts of twice as many are allowed. 0
        /// sets no limit. Default 1,000.
        package var homeserverRate = 1000
        /// The limits of connections on which no valid key has been shown.
        package var unauthenticated = UnauthenticatedConnectionStateMachine.Limits()
        /// The time without data after which a connection is closed. Default 60 s.
        package var idle: Duration = .seconds(60)
        /// The maximum number of connections. Further connections wait until one is closed. Connections without a key
        /// have a separate, lower limit. Default 1,000.
        package var connections = 1000
        /// The maximum number of new connections per second. All networks from which a key of an app was sent share one
        /// such limit, of which each may use half. All other networks share another one, of which each may use a tenth.
        /// Bursts of twice as many are allowed. 0 sets no limit. Default 500.
        package var connectionRate = 500

        package init() {}

        /// The maximum time for which a request waits for the work that it has begun, such as an erasure. It must be
        /// less than ``request``, so that the response is in time.
        package var outcome: Duration = .seconds(10)
    }
}

extension ProviderConfiguration {
    /// The limits of those budgets that these settings change from their defaults.
    package var budgets: [BudgetedResource: BudgetLimits] {
        var changed: [BudgetedResource: BudgetLimits] = [:]
        func set(_ resource: BudgetedResource, _ change: (inout BudgetLimits) -> Void) {
            change(&changed[resource, default: resource.row.limits])
        }
        set(.newConnections) { limits in
            limits.bounds.app = .rate(self.limits.connectionRate)
            // Other clients in a network with a key may have no key. Therefore, one network leaves half of the rate to
            // the app's other networks.
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
            // Forms need no API key, so one address may use only a tenth of the rate.
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
    /// Returns a rate limit with bursts of twice as many. For 0, returns `nil`, which sets no limit.
    fileprivate static func rate(_ perSecond: Int) -> BudgetBound? {
        perSecond > 0 ? .rate(perSecond: Double(perSecond), burst: 2 * Double(perSecond)) : nil
    }
}

/// An error that prevents a provider server from running.
package enum ProviderError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(address: String, why: String)
    case dataDirectoryInUse(String)
    case cannotWriteAdminKey(path: String, why: String)
    /// The error for a database whose replacement by a backup was interrupted. The string is the path of the database.
    case restoreInterrupted(String)
    /// The error for a program that was built without an engine for PostgreSQL.
    case noPostgreSQL
    /// The error for a server that terminated before it accepted requests.
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
        case .noPostgreSQL:
            """
            this program was built without PostgreSQL: build it with 'swift build --traits Server,PostgreSQL', or leave \
            out serve.database
            """
        case .ended: "the provider ended before it was open"
        }
    }
}
