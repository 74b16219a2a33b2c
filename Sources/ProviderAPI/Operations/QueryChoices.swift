import ProviderModel
import PushProvider
import PushStore
package import PushSupport

/// The values of the items of queries that options of commands stand for.
package enum QueryChoices {
    package static let notificationStates = Schema.choice(of: NotificationRecord.State.self)
    package static let notificationOrders = Schema.choice(of: NotificationSort.self)
    package static let deviceStates = Schema.choice(of: DeviceSearch.State.self)
    package static let deviceOrders = Schema.choice(of: DeviceSort.self)
    package static let exportedStates = Schema.choice(of: ExportedDevices.self)
    package static let fileFormats = Schema.choice(of: TransferFormat.self)
    package static let foreignLists = Schema.choice(of: ForeignDeviceList.self)
    package static let issueStates = Schema.choice(of: IssueState.self)
    package static let issueOrders = Schema.choice(of: IssueOrder.self)
    package static let tokenActions = Schema.choice(of: TokenEventRecord.Action.self)
}
