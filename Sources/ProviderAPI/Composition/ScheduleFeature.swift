import ProviderModel
import PushHTTP
import PushProvider
import PushStore
import PushSupport
import ServiceLifecycle

/// The feature for schedules, with the service that runs them.
struct ScheduleFeature: ProviderFeature {
    let services: [any Service]
    let controllers: [any Controller<APIScope>]

    init(_ core: ProviderCore, _ acceptor: NotificationAcceptor) {
        let (store, time, wake) = (core.store, core.time, core.scheduleWake)
        let runner = ScheduleRunner(
            store: store,
            acceptor: acceptor,
            wake: wake,
            settings: core.configuration.schedules,
            lines: core.budgets[.logLines],
            time: time,
            logger: core.logger
        )
        self.services = [core.nodes.exclusive(runner, .schedules)]
        self.controllers = [
            SchedulesController(store: store, wake: wake, time: time),
            ScheduleCalendarController(store: store, time: time),
        ]
    }
}
