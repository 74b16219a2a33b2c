import Logging
import NIOCore
import PushHTTP
import PushSupport
import PushTypes
import PushWire

/// The parts that the connections of old providers share.
struct BinaryBridgeListener: Sendable {
    let directory: BinaryClientDirectory
    let intake: BinaryIntake
    /// The budget of the connections whose certificates are known.
    let places: Budget
    /// The rates at which connections are opened, which know the networks of known certificates.
    let rates: ConnectionRates
    var limits = BinaryServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger

    /// Adds the connection's handler behind TLS.
    func initialize(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(BinaryBridgeHandler(listener: self))
    }
}
