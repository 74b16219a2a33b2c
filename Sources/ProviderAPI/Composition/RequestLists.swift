import PushProvider
import PushStore
package import PushSupport

/// The lists of members of the requests that options of commands and fields of pages stand for.
///
/// Options and fields take their bounds and their choices from here, by the path of a member, as in
/// `RequestLists.app["cap.window"]`.
package enum RequestLists {
    package static let newApp = AppsController.addition
    package static let app = AppsController.changes
    package static let appStop = AppStopController.pauseRequest
    package static let credential = CredentialsController.request
    package static let newWebhook = WebhooksController.addition
    package static let webhook = WebhooksController.changes
    package static let webhookReplay = WebhooksController.replayRequest

    package static let newKey = KeySettings.addition
    package static let key = KeySettings.change
    package static let newPerson = PersonSettings.addition
    package static let person = PersonSettings.change
    package static let password = AccountController.passwordRequest

    package static let notification = NotificationRequest.object
    package static let notificationResend = NotificationResend.object
    package static let broadcast = BroadcastRequest.object
    /// The locale that is the name of a localization.
    package static let localizationName = Schema.string(length: 2...LocaleTag.maximumLength)
    package static let notificationPreview = SendingController.previewRequest
    package static let schedule = SchedulesController.request
    package static let channel = ChannelsController.addition
    package static let audience = AudienceExpression.object
    package static let audiencePreview = AudiencesController.previewRequest
    package static let savedAudience = NamedAudiencesController.bodies.saved
    package static let savedTemplate = TemplatesController.bodies.saved
    package static let templatePreview = TemplatesController.previewRequest
    package static let libraryRestore = LibraryOperations.restoreRequest

    package static let device = DeviceRequest.object
    package static let preferences = Preferences.object
    package static let badge = HistoryController.badge
    package static let reactivation = ReactivationController.request

    package static let newPublication = PublicationsController.addition
    package static let publication = PublicationsController.changes
    package static let newIssue = IssuesController.addition
    package static let issue = IssuesController.changesRequest
    package static let issueNotification = NotifyController.notifyRequest
    package static let entitlementServer = EntitlementController.setRequest
    package static let entitlementTest = EntitlementController.testRequest
}

/// The values of the items of queries that options of commands stand for.
package enum QueryChoices {
    package static let notificationStates = Schema.choice(of: NotificationRecord.State.self)
    package static let notificationOrders = Schema.choice(of: NotificationSort.self)
    package static let deviceStates = Schema.choice(of: DeviceSearch.State.self)
    package static let deviceOrders = Schema.choice(of: DeviceSort.self)
    package static let exportedStates = Schema.choice(of: DeviceExport.State.self)
    package static let fileFormats = Schema.choice(of: TransferFormat.self)
    package static let foreignLists = Schema.choice(of: ForeignDeviceList.self)
    package static let issueStates = Schema.choice(of: IssueState.self)
    package static let issueOrders = Schema.choice(of: IssueOrder.self)
    package static let tokenActions = Schema.choice(of: TokenEventRecord.Action.self)
}
