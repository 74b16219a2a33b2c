import Logging
import NIOCore
import PushSupport
import PushTypes
import PushWire

/// The parts that the connections of old providers share.
struct BinaryBridgeListener: Sendable {
    let directory: BinaryClientDirectory
    let intake: BinaryIntake
    /// The budget of the connections whose certificates are known.
    let places: Budget
    var limits = BinaryServerStateMachine.Limits()
    let time: any TimeSource
    let logger: Logger

    /// Adds the connection's handler behind TLS.
    func initialize(_ channel: any Channel) throws {
        try channel.pipeline.syncOperations.addHandler(BinaryBridgeHandler(listener: self))
    }
}
