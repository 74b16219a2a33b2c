import Foundation
import Hummingbird
package import Logging
import NIOCore
package import PushProtocol
package import PushProvider
package import PushSender
import PushStore
import ServiceLifecycle

/// A provider: the REST API under `/v1` and the dispatcher behind it.
package final class ProviderServer: Service {
    /// The text of the admin key that the first start made; `nil` later. Show it once, it is kept nowhere.
    package let firstAdminKey: String?

    private let configuration: ProviderConfiguration
    private let store: SQLiteStore
    private let dispatcher: Dispatcher
    private let api: API
    private let bound = Bound<Int>()
    private let logger: Logger

    /// Opens the database.
    /// - Throws: ``StoreError``.
    package init(
        configuration: ProviderConfiguration,
        senders: any SenderSource,
        policy: RetryPolicy = RetryPolicy(),
        time: any TimeSource = SystemTime(),
        logger: Logger
    ) async throws {
        self.configuration = configuration
        self.logger = logger
        self.store = try Self.openStore(configuration)
        let keys = APIKeys(store: self.store, time: time)
        let wake = Wake()
        self.firstAdminKey = try await keys.issueFirst()
        self.dispatcher = Dispatcher(
            store: self.store,
            senders: senders,
            wake: wake,
            policy: policy,
            time: time,
            logger: logger
        )
        self.api = API(store: self.store, keys: keys, wake: wake, time: time, logger: logger)
    }

    /// The port that the API is bound to. Waits until it is.
    /// - Throws: what ended ``run()`` before that.
    package func port() async throws -> Int {
        try await self.bound.value
    }

    /// Serves until shutdown: the API ends first, then the dispatcher finishes the page in flight.
    package func run() async throws {
        do {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await self.dispatcher.run() }
                defer { group.cancelAll() }
                try await self.serve()
                try await group.waitForAll()
            }
            try self.store.close()
            self.logger.info("provider has ended")
            self.bound.resolve(.failure(ProviderError.ended))
        } catch {
            self.bound.resolve(.failure(error))
            throw error
        }
    }

    private func serve() async throws {
        let (host, port) = (self.configuration.host, self.configuration.port)
        var quiet = self.logger
        quiet.logLevel = max(self.logger.logLevel, .warning)
        let application = Application(
            router: self.api.router,
            configuration: .init(address: .hostname(host, port: port)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? port
                self.logger.info("provider is open", metadata: ["api": "http://\(host):\(port)/v1"])
                self.bound.resolve(.success(port))
            },
            logger: quiet
        )
        do {
            try await application.run()
        } catch let error as IOError {
            throw ProviderError.cannotListen(address: "\(host):\(port)", why: "\(error)")
        }
    }

    private static func openStore(_ configuration: ProviderConfiguration) throws -> SQLiteStore {
        do {
            try FileManager.default.createDirectory(
                atPath: configuration.dataDirectory,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw StoreError.cannotOpen(path: configuration.dataDirectory, why: "\(error)")
        }
        return try SQLiteStore(
            path: configuration.databasePath,
            masterKey: MasterKey.load(orCreateAt: configuration.masterKeyPath)
        )
    }
}

/// Why a provider server cannot run.
package enum ProviderError: Error, Hashable, Sendable, CustomStringConvertible {
    case cannotListen(address: String, why: String)
    /// It ended before it was open.
    case ended

    package var description: String {
        switch self {
        case .cannotListen(let address, let why): "the provider cannot listen on \(address): \(why)"
        case .ended: "the provider ended before it was open"
        }
    }
}
