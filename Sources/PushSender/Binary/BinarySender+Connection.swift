import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// The connection of a ``BinarySender`` and its timer. Everything here runs on the event loop.
extension BinarySender {
    func connected(_ channel: any Channel, number: Int) {
        guard number == self.connectionNumber, case .connecting = self.connection else {
            channel.close(promise: nil)
            return
        }
        self.logger.info("connected to the push service", metadata: ["host": "\(self.connector.endpoint.host)"])
        self.connection = .open(channel)
        (self.lastFailure, self.lastFault) = (nil, nil)
        self.stateMachine.connected()
        self.proceed()
    }

    func receive(_ bytes: ByteBuffer, number: Int) {
        guard number == self.connectionNumber else { return }
        self.perform(self.stateMachine.receive(bytes, now: self.time.steady))
        self.proceed()
    }

    /// Handles the end of a connection, or the failure of an attempt to connect.
    func connectionClosed(_ error: (any Error)?, number: Int) {
        guard number == self.connectionNumber else { return }
        self.connectionNumber &+= 1
        let wasOpen = self.stateMachine.isConnected
        self.lastFailure = error.map { "\($0)" }
        self.lastFault = self.fault(of: error, wasOpen: wasOpen)
        self.logger.log(
            level: wasOpen && error == nil ? .info : .warning,
            "no connection to the push service",
            metadata: ["error": "\(self.lastFailure ?? "closed by the push service")"]
        )
        self.connection = .none
        if wasOpen, self.stateMachine.hasAcceptedNotification || !Self.isCertificateRejected(error) {
            self.perform(self.stateMachine.connectionClosed())
        } else {
            self.stateMachine.connectionFailed()
            if self.configuration.failsFast { self.perform(self.stateMachine.giveUp()) }
        }
        self.proceed()
    }

    /// Closes the connection, or ends the attempt to make one. Its later events are ignored.
    func disconnect() {
        self.connectionNumber &+= 1
        switch self.connection {
        case .open(let channel): channel.close(promise: nil)
        case .delayed(let task): task.cancel()
        case .none, .connecting: break
        }
        self.connection = .none
    }

    func connectIfNeeded() {
        guard case .none = self.connection, self.stateMachine.needsConnection else { return }
        guard self.stateMachine.failures > 0 else { return self.connect() }
        var generator = SystemRandomNumberGenerator()
        let delay = self.configuration.reconnect.delay(afterFailures: self.stateMachine.failures, using: &generator)
        self.connection = .delayed(
            self.eventLoop.scheduleTask(in: TimeAmount(delay)) {
                self.assumeIsolated { $0.connect() }
            }
        )
    }

    /// Writes while the connection is writable. The quiet period of each write begins when the system has its bytes.
    func write() {
        guard case .open(let channel) = self.connection else { return }
        let (now, number) = (self.time.steady, self.connectionNumber)
        while channel.isWritable, number == self.connectionNumber {
            var (bytes, last) = (ByteBuffer(), UInt32?.none)
            while bytes.readableBytes < Self.writeLength {
                self.withdrawRecalledBeforeWriting()
                let actions = self.stateMachine.nextWrite(now: now)
                guard case .write(let notification) = actions.last else { break }
                BinaryFrame(command: self.configuration.command, notification: notification).write(to: &bytes)
                last = notification.identifier
                self.perform(actions)
            }
            guard let last else { return }
            channel.writeAndFlush(bytes).whenSuccess {
                self.assumeIsolated { $0.written(through: last, number: number) }
            }
        }
    }

    func scheduleTick() {
        guard let deadline = self.stateMachine.nextDeadline else { return }
        if let timer = self.timer, timer.at <= deadline { return }
        self.timer?.task.cancel()
        let delay = max(.zero, deadline.since(self.time.steady))
        let task = self.eventLoop.scheduleTask(in: TimeAmount(delay)) {
            self.assumeIsolated { $0.tick() }
        }
        self.timer = (deadline, task)
    }

    private func written(through identifier: UInt32, number: Int) {
        guard number == self.connectionNumber else { return }
        self.stateMachine.written(through: identifier, now: self.time.steady)
        self.proceed()
    }

    private func tick() {
        self.timer = nil
        self.perform(self.stateMachine.tick(now: self.time.steady))
        self.proceed()
    }

    private func connect() {
        self.connection = .none
        guard self.stateMachine.needsConnection else { return }
        self.connectionNumber &+= 1
        self.connection = .connecting
        let (number, timeout) = (self.connectionNumber, TimeAmount(self.connector.endpoint.connectTimeout))
        self.connector.connect(on: self.eventLoop) { channel in
            try channel.pipeline.syncOperations.addHandler(
                BinaryConnectionHandler(sender: self, number: number, handshakeTimeout: timeout)
            )
        }
        .whenFailure { error in
            self.assumeIsolated { $0.connectionClosed(error, number: number) }
        }
    }

    /// Returns the reason for which there is no connection; `nil` for the end of one that was open.
    private func fault(of error: (any Error)?, wasOpen: Bool) -> ConnectionFault? {
        let cause: ConnectionFault.Cause
        if Self.isCertificateRejected(error) {
            cause = .clientCertificateRejected
        } else if wasOpen {
            return nil
        } else {
            cause = error.map { ConnectionFailure($0).cause } ?? .closed
        }
        return ConnectionFault(cause, host: self.connector.endpoint.host, port: self.connector.endpoint.port)
    }

    /// Returns whether the server closed because it rejects the client certificate.
    ///
    /// With TLS 1.3 that alert follows the handshake. Notifications may have been written by then, but the server has
    /// read none of them.
    private static func isCertificateRejected(_ error: (any Error)?) -> Bool {
        guard let error else { return false }
        let text = "\(error)"
        return [
            "CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "ALERT_CERTIFICATE_", "UNSUPPORTED_CERTIFICATE",
            "ALERT_UNKNOWN_CA", "ALERT_ACCESS_DENIED",
        ].contains { text.contains($0) }
    }
}
