import Foundation
import Logging
import NIOCore
import PushProtocol

/// The provider API of one environment: answers push requests over HTTP/2.
final class ProviderDoor: Sendable {
    let directory: EnvironmentDirectory
    let router: Router
    let environment: PushEnvironment
    private let requestDeadline: TimeAmount
    let time: any TimeSource
    let logger: Logger

    init(
        directory: EnvironmentDirectory,
        router: Router,
        environment: PushEnvironment,
        requestDeadline: TimeAmount,
        time: any TimeSource,
        logger: Logger
    ) {
        self.directory = directory
        self.router = router
        self.environment = environment
        self.requestDeadline = requestDeadline
        self.time = time
        self.logger = logger
    }

    /// Sets up a connection after TLS.
    func initialize(_ channel: any Channel, _ fault: FaultDecision?) throws {
        try channel.pipeline.syncOperations.addHandler(
            ProtocolDetector(deadline: self.requestDeadline, configureHTTP2: self.configureHTTP2)
        )
    }

    private func configureHTTP2(_ channel: any Channel) throws {
        var limits = ServiceConnectionLimits()
        limits.request = self.requestDeadline
        try channel.pipeline.syncOperations.addHandler(
            ProviderConnectionHandler(limits: limits, logger: self.logger) { ProviderReceiver(door: self, handle: $0) }
        )
    }
}
