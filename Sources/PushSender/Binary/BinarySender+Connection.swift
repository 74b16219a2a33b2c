import Logging
import NIOCore
import NIOPosix
import PushSupport
import PushTypes
import PushWire

/// The connection of a ``BinarySender``, and its clock. Everything here runs on the event loop.
extension BinarySender {
    /// TLS stands: write what waits.
    func connected(_ channel: any Channel, number: Int) {
        guard number == self.connectionNumber, case .connecting = self.link else {
            channel.close(promise: nil)
            return
        }
        self.logger.info("connected to the legacy push service", metadata: ["host": "\(self.configuration.host)"])
        self.link = .open(channel)
        self.lastFailure = nil
        self.machine.connected()
        self.proceed()
    }

    func received(_ bytes: ByteBuffer, number: Int) {
        guard number == self.connectionNumber else { return }
        self.perform(self.machine.received(bytes, now: self.time.steady))
        self.proceed()
    }

    /// The connection is gone, or never came about.
    func ended(_ error: (any Error)?, number: Int) {
        guard number == self.connectionNumber else { return }
        self.connectionNumber &+= 1
        let wasOpen = self.machine.isConnected
        self.lastFailure = error.map { "\($0)" }
        self.logger.log(
            level: wasOpen && error == nil ? .info : .warning,
            "no connection to the legacy push service",
            metadata: ["error": "\(self.lastFailure ?? "closed by the service")"]
        )
        self.link = .none
        if wasOpen, self.machine.hasSettled || !Self.refusesCertificate(error) {
            self.perform(self.machine.connectionClosed())
        } else {
            self.machine.connectionRefused()
        }
        self.proceed()
    }

    /// Closes the connection, or gives up making one; nothing more is heard of it.
    func disconnect() {
        self.connectionNumber &+= 1
        switch self.link {
        case .open(let channel): channel.close(promise: nil)
        case .pausing(let task): task.cancel()
        case .none, .connecting: break
        }
        self.link = .none
    }

    func connectIfNeeded() {
        guard case .none = self.link, self.machine.wantsConnection else { return }
        guard self.machine.failures > 0 else { return self.connect() }
        var generator = SystemRandomNumberGenerator()
        let delay = self.configuration.reconnect.delay(afterFailures: self.machine.failures, using: &generator)
        self.link = .pausing(
            self.eventLoop.scheduleTask(in: TimeAmount(delay)) {
                self.assumeIsolated { $0.connect() }
            }
        )
    }

    /// Gives the connection as much as it takes; the quiet period of each write begins when the system has it.
    func write() {
        guard case .open(let channel) = self.link else { return }
        let (now, number) = (self.time.steady, self.connectionNumber)
        while channel.isWritable, number == self.connectionNumber {
            var (bytes, last) = (ByteBuffer(), UInt32?.none)
            while bytes.readableBytes < Self.writeLength {
                let actions = self.machine.nextWrite(now: now)
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
        guard let deadline = self.machine.nextDeadline else { return }
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
        self.machine.written(through: identifier, now: self.time.steady)
        self.proceed()
    }

    private func tick() {
        self.timer = nil
        self.perform(self.machine.tick(now: self.time.steady))
        self.proceed()
    }

    private func connect() {
        self.link = .none
        guard self.machine.wantsConnection else { return }
        self.connectionNumber &+= 1
        self.link = .connecting
        let (number, timeout) = (self.connectionNumber, self.configuration.connectTimeout)
        LegacyConnection.bootstrap(
            on: self.eventLoop,
            tls: self.configuration.tls,
            serverName: self.configuration.serverName,
            connectTimeout: timeout
        ) { channel in
            try channel.pipeline.syncOperations.addHandler(
                BinaryConnectionHandler(sender: self, number: number, handshakeTimeout: TimeAmount(timeout))
            )
        }
        .connect(host: self.configuration.host, port: self.configuration.port)
        .whenFailure { error in
            self.assumeIsolated { $0.ended(error, number: number) }
        }
    }

    /// Whether the service closed because of the provider's certificate. With TLS 1.3 that comes after the handshake,
    /// when notifications may have been written already; the service has not read any of them then.
    private static func refusesCertificate(_ error: (any Error)?) -> Bool {
        guard let error else { return false }
        let text = "\(error)"
        return [
            "CERTIFICATE_REQUIRED", "BAD_CERTIFICATE", "ALERT_CERTIFICATE_", "UNSUPPORTED_CERTIFICATE",
            "ALERT_UNKNOWN_CA",
            "ALERT_ACCESS_DENIED",
        ].contains { text.contains($0) }
    }
}
