import Logging
import PushSupport

/// The parts that the routers of all environments work with.
struct RoutingServices: Sendable {
    let database: GatewayDatabase
    let devices: DeviceRegistry
    let events: EventLog
    let feedback: any FeedbackSink
    let sequences: MessageSequence
    let faults: FaultPlan
    let time: any TimeSource
    let logger: Logger
}
