import PushHTTP
import PushStore
import ServiceLifecycle

/// A part of a provider with a purpose of its own: its operations of the API, and the services behind them.
protocol ProviderFeature: Sendable {
    /// The services that run as long as the provider.
    var services: [any Service] { get }
    /// The controllers of its operations.
    var controllers: [any Controller<APIScope>] { get }
}
