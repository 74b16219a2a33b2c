import PushHTTP
import PushProvider
import PushStore
import PushSupport

extension ProviderServer {
    /// Returns the controllers of operations that only show: lists, figures, the calendar, and the state of the server.
    static func reportControllers(
        store: SQLiteStore,
        trail: AuditTrail,
        dispatch: DispatchMetrics,
        trouble: TroubleReport,
        waits: WaveWaits,
        time: any TimeSource
    ) -> [any Controller<APIScope>] {
        [
            NotificationListController(store: store, waits: waits, time: time), DeviceListController(store: store),
            AuditController(store: store, trail: trail), WebhookDeliveriesController(store: store),
            ScheduleCalendarController(store: store, time: time), StatisticsController(store: store, time: time),
            SystemController(store: store, dispatch: dispatch, startedAt: time.now, time: time),
            OverviewController(store: store, trouble: trouble, time: time),
        ]
    }
}
